/** The programs in `examples` are imported as text (`with { type: "text" }`), which esbuild supports and TypeScript does not know. */
declare module "*.mjs" {
  const text: string;
  export default text;
}

declare module "*.py" {
  const text: string;
  export default text;
}

declare module "*.sh" {
  const text: string;
  export default text;
}
