import type { Row, StoreChange } from "./store.ts";

/** The recorded run of one program: all that the engine met outside, and all that it left in the store, step by step. */
export type History = {
  /** What of the engine the run passes through. */
  readonly shows: string;
  /** The released version that made it. */
  readonly version: string;
  /** Tag of the newest migration then. */
  readonly migration: string;
  /** As SVC_VAULT_KEY takes it. */
  readonly vaultKey: string;
  readonly caller: { readonly projectId: string; readonly keyId: string };
  readonly jobId: string;
  /** What people did, in order, and when. */
  readonly acts: readonly Act[];
  /** What the apps saw, in the order they saw it, and what they answered. */
  readonly requests: readonly RecordedRequest[];
  /** What they saw beside when another driver took over from a state in which a write was in doubt. */
  readonly more: readonly RecordedRequest[];
  /** The store before the job was submitted. */
  readonly before: Readonly<Record<string, readonly Row[]>>;
  readonly entries: readonly Entry[];
  /** How the run ended. From an entry that names another ending it ends so instead. */
  readonly endings: readonly Ending[];
};

/** The store at one point of the run. */
export type Entry = StoreChange & {
  /** A fault point of the driver, the way of a request (`before-send`, `in-send`), or what was done from outside. */
  readonly point: string;
  readonly step: string;
  /** The clock. */
  readonly at: string;
  /** Acts done, and requests that the apps had seen, by then. */
  readonly acts: number;
  readonly requests: number;
  /** Absent: the first. */
  readonly ending?: number;
};

/** A request as an app saw it, and how the app answered. */
export type RecordedRequest = {
  readonly tool: string;
  readonly entity: string;
  readonly class: "read" | "write" | "destructive";
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  /** The app's idempotency key, where the request carries one in a header. */
  readonly key: string;
  readonly answer: RecordedAnswer;
};

/** What came of a request. */
export type RecordedAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: "broken" | "timeout"; readonly sent: boolean; readonly message: string };

/** Something that a person did, or would do in the same place again. */
export type Act = {
  /** When it is done: as soon as nothing moves and the job stands so, or while the app has this request. */
  readonly when: Standing | { readonly request: number };
  readonly does:
    | { readonly kind: "answer"; readonly answer: Answer; readonly refusal?: string }
    | { readonly kind: "cancel" };
};

/** An answer to the pending question. */
export type Answer = {
  readonly principalId: string;
  readonly continuation: string;
  readonly overridesJson?: string;
  readonly note?: string;
};

/** How a job stands to whoever reads it; an absent part may be anything. */
export type Standing = {
  readonly status?: string;
  /** Of its park. */
  readonly reason?: string;
  readonly stepId?: string;
  /** Of its pending ask. */
  readonly hopIndex?: number;
  readonly isExhausted?: boolean;
  readonly isDelivered?: boolean;
};

/** What a run came to, without what is another in every run: times, ids of what was made on the way, cuts of commits. */
export type Ending = {
  readonly jobs: readonly JobEnding[];
  /** Writes that the apps saw in the run and not in this ending: those that a lost call kept from being made. */
  readonly without: readonly string[];
  /** Writes that they saw in this ending alone. */
  readonly beyond: readonly string[];
};

/** How one job ended: the one that was submitted, then its simulation if there is one. */
export type JobEnding = {
  readonly job: Readonly<Record<string, unknown>>;
  /** Types of the log's entries with their steps; of some also what they say. */
  readonly log: readonly string[];
};
