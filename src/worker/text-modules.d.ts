/** wrangler's rule for text files: the module is the text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
