/** What is tested for its guarantees: ours and each rival, with the requests that lead to each status. */
import { HOT_PATH, LIST, NO_SUCH_PATH } from "./cases.ts";
import { REACHED_LIMIT, RIVAL_IDS, RIVALS, type RivalId, rivalPath } from "./rivals/names.ts";
import type { BenchService } from "./service.ts";

export type Subject = {
  readonly id: string;
  readonly name: string;
  /** Answers GET with 200 and other methods with 405. */
  readonly path: string;
  readonly missingPath: string;
  /** An `Authorization` header for a key with 60 requests a minute that nobody has used. */
  createKey(service: BenchService): Promise<string>;
};

const ours: Subject = {
  id: HOT_PATH,
  name: "ours",
  path: LIST,
  missingPath: NO_SUCH_PATH,
  createKey: (service) => service.createKey({ perMinute: REACHED_LIMIT, perDay: 1_000_000 }),
};

const rivalSubject = (id: RivalId): Subject => ({
  id,
  name: RIVALS[id],
  path: rivalPath(id, REACHED_LIMIT),
  missingPath: `/bench/${REACHED_LIMIT}/${id}/none`,
  createKey: (service) => service.createRivalKey(REACHED_LIMIT),
});

export const SUBJECTS: readonly Subject[] = [...RIVAL_IDS.map(rivalSubject), ours];
