// Elements: the page is built from text nodes only, so text from the data can never be markup.

const byId = (id) => document.getElementById(id);

/** An element with properties, attributes (in `attributes`) and children, which may be text. */
function make(tag, properties = {}, ...children) {
  const { attributes = {}, ...others } = properties;
  const element = document.createElement(tag);
  Object.assign(element, others);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** An SVG element with attributes. */
function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const whole = (value) => Number(value).toLocaleString("en-GB");

/** A number with four significant digits. */
function digits(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace("e", " e").replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

/** A value of the style sheet that the theme may change. */
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The tooltip of the point under the pointer. */
function tip(text, x, y) {
  const box = byId("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
  box.style.top = `${Math.max(4, y + height + 22 > innerHeight ? y - height - 10 : y + 16)}px`;
}

/** Copy text, and show on the button whether that worked. */
async function copied(button, text) {
  const before = button.textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, className: "hidden" });
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = done ? "Copied" : "Copying failed";
  setTimeout(() => { button.textContent = before; }, 1600);
}
