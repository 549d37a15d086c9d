import { kinds } from "./jobs-programs.ts";
import type { Doom } from "./jobs-relay.ts";

// The faults that are tested, for which kinds of work and at which points.

const everywhere = ["after-claim", "before-commit", "after-commit"];
const around = ["before-call", "after-insert", "in-send", "after-send", "after-call"];
const reading = [...everywhere, ...around];
const writing = [...reading, "before-insert"];
const asking = ["after-ask-commit"];
const undoing = ["mid-undo"];

/** The fault points that a kind of work passes. Default: those of writes. */
const pointsOf: Readonly<Record<string, readonly string[]>> = {
  read: reading,
  pages: reading,
  "pages by number": reading,
  "pages over http": reading,
  filter: everywhere,
  sets: everywhere,
  "map of reads": reading,
  "http read": reading,
  judge: [...everywhere, ...asking],
  wait: everywhere,
  parallel: [...writing, ...asking],
  planned: [...writing, ...asking],
  undo: [...writing, ...undoing],
  "undo of children": [...writing, ...undoing],
  "retried map of skills": reading,
};

/** The passings of a point at which a fault is tested. Later passings behave like these. */
const passings = [1, 2, 4];

/** Passings for the kinds in which each commit belongs to another step. */
const passingsOf: Readonly<Record<string, readonly number[]>> = {
  sets: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  "handled blocks": [1, 2, 3, 5, 7, 9, 12],
  "wide parallel": [1, 2, 3, 5, 8, 12],
  "map of skills": [1, 2, 4, 8, 12],
  "parallel skills": [1, 2, 4, 8, 12],
  "retried map of writing skills": [1, 2, 4, 8, 12],
  "undo of children": [1, 2, 4, 7, 10],
};

/**
 * One case of the whole matrix: a fault at a point of a kind of work. It is tested at each of some passings, until a job does not pass the
 * point that often.
 */
export type Line = Omit<Doom, "nth"> & { readonly passings: readonly number[] };

/** A process that dies, at every point of every kind of work. */
const killed: readonly Line[] = Object.keys(kinds).flatMap((kind) =>
  (pointsOf[kind] ?? writing).map((point) => ({
    ...{ kind, fault: "killed" as const, point },
    passings: passingsOf[kind] ?? passings,
  })),
);

/** Kinds of work that cover every way in which a worker holds work. Other kinds behave like these when the worker is frozen. */
const held = [
  ...["write", "keyed write", "pages", "map of writes", "map of keyed writes", "http write", "judge", "wait"],
  ...[
    "until",
    "parallel",
    "skills",
    "map of skills",
    "parallel skills",
    "undo",
    "retried map",
    "retried parallel",
    "planned",
  ],
];

/** A process that is frozen while it holds the most work, until another worker has taken the work over. */
const frozen: readonly Line[] = held.flatMap((kind) =>
  ["before-commit", "before-insert", "after-insert", "in-send"].flatMap((point) =>
    (pointsOf[kind] ?? writing).includes(point)
      ? [{ kind, fault: "frozen" as const, point, passings: point === "before-commit" ? [1, 2, 4] : [1, 2] }]
      : [],
  ),
);

/** A store that disconnects, or that executes a statement and cannot answer. */
const parted: readonly Line[] = Object.keys(kinds).flatMap((kind) =>
  (["cut", "unanswered"] as const).map((fault) => ({ kind, fault, point: "before-commit", passings: [1, 2, 4] })),
);

/** A process that dies while its job is being paused. */
const paused: readonly Line[] = Object.keys(kinds).flatMap((kind) =>
  (
    [
      ["after-claim", 1, "before-commit"],
      ["before-commit", 2, "after-commit"],
      ["before-commit", 4, "before-commit"],
    ] as const
  ).map(([at, nth, point]) => ({
    ...{ kind, fault: "killed" as const, point },
    pausesAt: [at, nth] as const,
    passings: [1],
  })),
);

/** Every case, those that take longest first. */
export const lines = { killed, frozen, parted, paused };

/**
 * The cases of `npm test`: every fault, and work of every shape where a fault is most likely to do harm. For the other kinds,
 * packages/jobs/src/drive and packages/jobs/src/steps test a worker's death within one process.
 */
export const sample: readonly Doom[] = [
  ...(
    [
      ["keyed write", "in-send", 1],
      ["judge", "after-ask-commit", 1],
      ["undo of children", "mid-undo", 1],
      ["http write", "after-send", 1],
      ["retried map of writing skills", "before-commit", 6],
    ] as const
  ).map(([kind, point, nth]) => ({ kind, fault: "killed" as const, point, nth })),
  { kind: "keyed write", fault: "frozen", point: "in-send", nth: 1 },
  { kind: "map of keyed writes", fault: "cut", point: "before-commit", nth: 3 },
  { kind: "map of keyed writes", fault: "killed", point: "after-commit", nth: 1, pausesAt: ["before-commit", 2] },
];
