import type { Act, Standing } from "./history.ts";
import { applyChange, type Row, type Store, type Tables } from "./store.ts";

/** What a deployment of a released version held at one moment, and what it takes to go on with it. */
export type DatabaseRecording = {
  readonly version: string;
  /** Tag of the newest migration then. */
  readonly migration: string;
  /** As SVC_VAULT_KEY takes it. */
  readonly vaultKey: string;
  /** When the rows were read. */
  readonly takenAt: string;
  /** Keys of projects, by the names that reads and calls know them by. */
  readonly keys: Readonly<Record<string, string>>;
  /** Where its endpoints were: what stands there in its rows is put where the test listens. */
  readonly receivers: { readonly good: string; readonly bad: string };
  /** Of subscriptions and ask endpoints, by id. */
  readonly signingSecrets: Readonly<Record<string, string>>;
  /** What calls answered then that change nothing. */
  readonly reads: readonly Read[];
  /** A submission under an idempotency key, and the job that it made. */
  readonly keyedSubmission: { readonly request: Readonly<Record<string, unknown>>; readonly jobId: string };
  /** Calls of tools that need what is sealed of an account, with the outcomes that are right. */
  readonly calls: readonly RecordedCall[];
  /** Jobs that had not ended, and how each of them ended. */
  readonly underWay: readonly UnderWay[];
  /** Ids of deliveries that were still to be made, and will be. */
  readonly pendingDeliveries: readonly string[];
  readonly tables: Readonly<Record<string, readonly Row[]>>;
};

/** A call that reads: its method without `svc.v1.`, whose key makes it (`admin`: the administrator), and what it answered. */
export type Read = {
  readonly method: string;
  readonly key: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
};

/** A call of a tool. */
export type RecordedCall = {
  readonly key: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly outcomes: readonly string[];
};

/** A job that had not ended. */
export type UnderWay = {
  readonly name: string;
  readonly id: string;
  readonly key: string;
  /** How it stood. */
  readonly stood: Standing;
  readonly acts: readonly (Act & { readonly when: Standing })[];
  readonly ending: ServiceEnding;
};

/** How a job ended: without what the apps made up, which a later sandbox may make up otherwise. */
export type ServiceEnding = {
  readonly status: string;
  /** How each step ended, by id. */
  readonly steps: Readonly<Record<string, string>>;
  readonly saga: string;
  readonly log: readonly string[];
};

/** The rows, moved in time so that what was now is now, and with the endpoints where somebody listens. */
export function movedStore(
  { tables: rows, takenAt, receivers }: DatabaseRecording,
  tables: Tables,
  to: { readonly nowMs: number; readonly receivers: DatabaseRecording["receivers"] },
): Store {
  const takenMs = Date.parse(takenAt);
  const shiftMs = to.nowMs - takenMs;
  const isTime = (value: unknown): value is number => {
    return typeof value === "number" && Math.abs(value - takenMs) < 60 * dayMs && Number.isInteger(value);
  };
  // Documents keep times as numbers, all of them about the moment that the rows were read.
  const movedDocument = (value: unknown): unknown => {
    if (isTime(value)) return value + shiftMs;
    if (Array.isArray(value)) return value.map(movedDocument);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, movedDocument(child)]));
  };
  const movedValue = (name: string, type: string, value: unknown): unknown => {
    if (type.startsWith("timestamp") && typeof value === "string") {
      return new Date(Date.parse(value) + shiftMs).toISOString();
    }
    if (type === "jsonb") return movedDocument(value);
    if (name !== "endpoint_url" || typeof value !== "string") return value;
    return value.replace(receivers.good, to.receivers.good).replace(receivers.bad, to.receivers.bad);
  };
  const upserts = Object.fromEntries(
    Object.entries(rows).map(([name, list]) => {
      const types = new Map(tables.get(name)?.columns.map((column) => [column.name, column.type]));
      const moved = (row: Row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [column, movedValue(column, types.get(column) ?? "", value)]),
        );
      return [name, list.map(moved)];
    }),
  );
  return applyChange(tables, new Map(), { upserts });
}

const dayMs = 86_400_000;

/**
 * An answer as it was then: times moved back, and the endpoints where they were. Times that ids carry were not moved, and stand as they
 * do in `recorded`. Tokens of pages are sealed anew by each call, and a key's last use is later by now. A pending delivery says by now when
 * its failing endpoint is tried again, and said then when it had been due itself. An ask says `pending` from its first moment.
 */
export function answeredThen(
  answer: unknown,
  recorded: unknown,
  { takenAt, receivers }: DatabaseRecording,
  now: { readonly nowMs: number; readonly receivers: DatabaseRecording["receivers"] },
): unknown {
  const shiftMs = now.nowMs - Date.parse(takenAt);
  const known = new Set(
    JSON.stringify(recorded)
      .match(timePattern)
      ?.map((time) => Date.parse(time)),
  );
  const text = JSON.stringify(answer)
    .replaceAll(now.receivers.good, receivers.good)
    .replaceAll(now.receivers.bad, receivers.bad)
    .replaceAll(timePattern, (time) => {
      const ms = Date.parse(time);
      return new Date(known.has(ms - shiftMs) ? ms - shiftMs : ms).toISOString();
    });
  return JSON.parse(text, (name, value: unknown) => {
    if (name === "nextPageToken") return value === "" ? "" : "…";
    if (name === "delivery" && value === "") return undefined;
    return name === "lastUsedAt" || name === "nextAttemptAt" ? undefined : value;
  });
}

const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
