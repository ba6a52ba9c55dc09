/** The field that finds keys, customers, orders and pages while somebody types. `/` and Ctrl-K lead there. */

const PAUSE_MS = 200;
const MIN_CHARS = 2;

export type Found = {
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
  readonly href: string;
};

export function findWhileTyping(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>(".find input")];
  for (const field of fields) addResults(field);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
    // The page of an owner, and the form for signing in, have no such field.
    if ((!isSlash && !isK) || fields.length === 0) return;
    event.preventDefault();
    const field = fields.find((each) => each.checkVisibility());
    if (field) field.select();
    else location.assign("/console/find");
  });
}

/** Follows the combobox of the ARIA practices: the focus stays in the field, and arrows choose a result. */
function addResults(field: HTMLInputElement): void {
  const list = document.createElement("div");
  list.id = "found";
  list.role = "listbox";
  list.ariaLabel = "Found";
  list.hidden = true;
  field.after(list);
  field.role = "combobox";
  field.setAttribute("aria-controls", list.id);
  field.ariaAutoComplete = "list";
  let active = -1;
  const options = () => [...list.querySelectorAll("a")];
  const choose = (next: number) => {
    active = next;
    for (const [i, option] of options().entries()) {
      option.ariaSelected = String(i === next);
      if (i === next) field.setAttribute("aria-activedescendant", option.id);
    }
    if (next === -1) field.removeAttribute("aria-activedescendant");
  };
  const show = (found: readonly Found[]) => {
    list.replaceChildren(...found.map(optionOf));
    list.hidden = found.length === 0;
    field.ariaExpanded = String(!list.hidden);
    choose(-1);
  };
  show([]);

  whileTyping(field, show);
  field.addEventListener("keydown", (event) => {
    const count = options().length;
    if (event.key === "Escape" && count > 0) show([]);
    else if (event.key === "ArrowDown" && count > 0) choose(active + 1 < count ? active + 1 : 0);
    else if (event.key === "ArrowUp" && count > 0) choose(active > 0 ? active - 1 : count - 1);
    else if (event.key === "Enter" && active >= 0) options()[active]?.click();
    else return;
    event.preventDefault();
  });
  field.form?.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && field.form?.contains(relatedTarget))) show([]);
  });
}

/** Shows what is found, once nothing was typed for a moment, and nothing for a short text. */
export function whileTyping(field: HTMLInputElement, show: (found: readonly Found[]) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = new AbortController();
  field.addEventListener("input", () => {
    clearTimeout(timer);
    asked.abort();
    asked = new AbortController();
    const text = field.value.trim();
    if (text.length < MIN_CHARS) return show([]);
    timer = setTimeout(() => void ask(text, asked.signal).then(show, () => {}), PAUSE_MS);
  });
}

/** The text is sent in a body: it may be a secret, and addresses are logged. */
async function ask(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const body = new URLSearchParams({ text });
  const headers = { Accept: "application/json" };
  const response = await fetch("/console/find", { method: "POST", body, headers, signal });
  return response.ok && response.headers.get("Content-Type")?.startsWith("application/json")
    ? response.json()
    : [];
}

function optionOf({ kind, name, detail, href }: Found, i: number): HTMLAnchorElement {
  const option = document.createElement("a");
  option.id = `found-${i}`;
  option.role = "option";
  option.tabIndex = -1;
  option.href = href;
  const small = document.createElement("span");
  small.className = "muted";
  small.textContent = [kind, detail].filter((text) => text !== "").join(", ");
  option.append(name, " ", small);
  return option;
}
