/** What requests cost, as Cloudflare bills it: sums that the counting bindings add to and the bench reads. */

export type Costs = {
  objectCalls: number;
  objectRowsRead: number;
  objectRowsWritten: number;
  d1Queries: number;
  d1RowsRead: number;
  d1RowsWritten: number;
};

const noCosts = (): Costs => ({
  objectCalls: 0,
  objectRowsRead: 0,
  objectRowsWritten: 0,
  d1Queries: 0,
  d1RowsRead: 0,
  d1RowsWritten: 0,
});

/** All requests to this isolate since the last `takeCosts`. */
export let costs: Costs = noCosts();

export function takeCosts(): Costs {
  const taken = costs;
  costs = noCosts();
  return taken;
}
