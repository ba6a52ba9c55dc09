/** Adds to the page at /docs what only a script can do: search, copy, and a language that stays chosen. */

const MENU = document.querySelector("details") ?? document.body;
const LANGUAGE = "language";

/** The browser keeps the choice for the next visit. */
function keepLanguage(): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>(".tabs input")];
  for (const choice of choices) {
    if (choice.value === localStorage.getItem(LANGUAGE)) choice.checked = true;
    choice.addEventListener("change", () => localStorage.setItem(LANGUAGE, choice.value));
  }
}

/** Browsers let a page write to the clipboard over https and on localhost only. */
function offerCopies(): void {
  if (!isSecureContext) return;
  for (const program of document.querySelectorAll("pre")) {
    const text = program.textContent;
    const button = Object.assign(document.createElement("button"), {
      className: "button small copy",
      textContent: "Copy",
    });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2_000);
    });
    program.append(button);
  }
}

type Place = { readonly id: string; readonly name: string; readonly text: string };

/** Sections and errors. */
function placesOf(): Place[] {
  return [...document.querySelectorAll<HTMLElement>("main :is(h2, h3, td [id])")].map((element) => {
    const name = element.textContent;
    if (element.closest("td"))
      return { id: element.id, name, text: element.closest("tr")?.textContent ?? "" };
    const texts = [name];
    for (let next = element.nextElementSibling; next && !/^H[23]$/.test(next.tagName); ) {
      texts.push(next.textContent ?? "");
      next = next.nextElementSibling;
    }
    return { id: element.id, name, text: texts.join(" ") };
  });
}

function offerSearch(): void {
  const contents = MENU.querySelector("ul");
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "Search" });
  field.setAttribute("aria-label", "Search");
  const found = document.createElement("ul");
  contents?.before(field, found);
  const places = placesOf();
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isFound = ({ text }: Place) => words.every((word) => text.toLowerCase().includes(word));
    contents?.toggleAttribute("hidden", words.length > 0);
    found.replaceChildren(
      ...(words.length === 0 ? [] : places.filter(isFound)).map(({ id, name }) => {
        const item = document.createElement("li");
        item.append(Object.assign(document.createElement("a"), { href: `#${id}`, textContent: name }));
        return item;
      }),
    );
    if (words.length > 0 && found.childElementCount === 0) found.textContent = "Nothing has these words.";
  });
}

MENU.toggleAttribute("open", matchMedia("(width >= 1000px)").matches);
keepLanguage();
offerSearch();
offerCopies();
