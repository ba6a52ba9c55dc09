/** Wrong calls and wrong rules are refused, and nothing is decided or stored. */
import { expect } from "./difference.ts";
import { Machine } from "./machine.ts";

export async function refuseWrongCalls(machine: Machine): Promise<void> {
  const lastDay = Date.UTC(9999, 11, 31);
  const { object } = machine;
  const calls = [
    ...[0, -1, 1.5, { t: -1 }].map((cost) => () => object.admitAll([{}, { cost }])),
    ...[-1, 0.5, { t: 0.5 }].map((cost) => () => object.settle("a", cost)),
    ...[lastDay + 1, Number.NaN].map((endsAtMs) => () => object.block({ endsAtMs, reason: null })),
  ];
  for (const call of calls) {
    const thrown = await call().catch((error: unknown) => error);
    expect("a wrong call is refused", thrown instanceof RangeError, true);
  }
  await new Machine(await machine.leave()).block({ endsAtMs: lastDay, reason: null });
  machine.resume();
}

const rules = (name: "strikes" | "firstSeconds", ...values: number[]) =>
  values.map((value) => ({ [name]: value }));
const WRONG = [...rules("strikes", 0, 1.5, 601), ...rules("firstSeconds", 0, 1.5, 86_401)];
const RIGHT = [...rules("strikes", 1, 600), ...rules("firstSeconds", 1, 86_400)];

export async function refuseWrongRules(machine: Machine): Promise<void> {
  const image = await machine.leave();
  if (image.policy === null) return;
  for (const bans of [...WRONG, ...RIGHT]) {
    const { object } = new Machine({ ...image, policy: { ...image.policy, bans } });
    const thrown = await object.inspect().catch((error: unknown) => error);
    expect("a wrong rule is refused", thrown instanceof RangeError, WRONG.includes(bans));
  }
  machine.resume();
}
