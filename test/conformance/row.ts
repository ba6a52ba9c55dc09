/** A row: a sentence that a limiter keeps or not, where the sentence comes from, and how it is asked. */
import type { Answer } from "./answer.ts";
import { NotAsked, type Outcome, type Session } from "./session.ts";
import type { Profile, Settings } from "./settings.ts";

export type Row = {
  readonly id: string;
  readonly sentence: string;
  readonly source: string;
  /** It is about the figures in these headers. Without it the row holds for each limiter. */
  readonly profiles?: readonly Profile[];
  readonly needs?: readonly (keyof Settings)[];
  /** How many keys it takes; by default one. */
  readonly keys?: number;
  /** It stops something that others need. */
  readonly isAlone?: true;
  readonly ask: (session: Session) => Promise<Outcome>;
};

export const EITHER = ["triple", "draft"] as const;
export const PROMISE = "docs/promises.md";
export const TRIPLE = "GitHub, Rate limits for the REST API";
export const DRAFT = "draft-ietf-httpapi-ratelimit-headers-11";

export const judge = (isKept: boolean, seen: string): Outcome => ({
  verdict: isKept ? "pass" : "FAIL",
  seen,
});

export const admittedOf = (answers: readonly Answer[]) => answers.filter(({ isAdmitted }) => isAdmitted);

/** What an answer shows of the kinds that the settings name and that can be read. */
export function shownOf(session: Session, answer: Answer): Answer["shown"] {
  const shown = answer.shown.filter(({ profile }) => session.settings.profiles.includes(profile));
  if (shown.length === 0) throw new NotAsked(`a ${answer.status} has no figures that can be read`);
  return shown;
}

export const headerOf = ({ headers }: Answer, name: string) => `${name}: ${headers.get(name) ?? "absent"}`;
