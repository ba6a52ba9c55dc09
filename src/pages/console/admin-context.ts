/** What every page of the console can use: the admin API, and the messages that say what was done. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AdminClient } from "./admin-client.ts";
import type { OpenSession } from "./session.ts";

export type ChangeUnderWay = {
  /** For the operator. */
  readonly name: string;
  /** Whether its answer has a secret, which is shown only then. */
  readonly makesSecret?: boolean;
};

export type Admin = {
  readonly client: AdminClient;
  readonly session: OpenSession;
  /** Shows a result for some seconds, also to a screen reader. */
  readonly announce: (text: string) => void;
  /** Shows what the operator has to know until it is dismissed, also after the sign-out. */
  readonly warn: (text: string) => void;
  /** The changes that wait for an answer of the service, and those of an open form that may be made although they failed. */
  readonly underWay: Set<ChangeUnderWay>;
  /** Forgets the token. The sign-in page names the changes under way; with `isRefused`, it says why. */
  readonly signOut: (isRefused: boolean) => void;
};

export const AdminContext = createContext<Admin | undefined>(undefined);

export function useAdmin(): Admin {
  const admin = useContext(AdminContext);
  if (!admin) throw new Error("a page of the console was shown without a session");
  return admin;
}
