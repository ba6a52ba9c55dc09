/** Stands for `cloudflare:workers` in unit tests, which run in Node: the base class of Durable Objects. */
export class DurableObject {
  readonly ctx: unknown;
  constructor(ctx: unknown) {
    this.ctx = ctx;
  }
}
