import type { Step } from "@svc/program";
import { callKind } from "./call.ts";
import { computeKind } from "./compute.ts";
import { distinctKind } from "./distinct.ts";
import { failKind } from "./fail.ts";
import { filterKind } from "./filter.ts";
import { flattenKind } from "./flatten.ts";
import { groupKind } from "./group.ts";
import { ifKind } from "./if.ts";
import { joinKind } from "./join.ts";
import { judgeKind } from "./judge.ts";
import { limitKind } from "./limit.ts";
import { mapKind } from "./map.ts";
import { parallelKind } from "./parallel.ts";
import { reduceKind } from "./reduce.ts";
import { runKind } from "./run.ts";
import { sortKind } from "./sort.ts";
import type { StepKind } from "./step-kind.ts";
import { takeKind } from "./take.ts";
import { untilKind } from "./until.ts";
import { waitKind } from "./wait.ts";

/** The functions that run each kind of step of a program, by kind. */
export const stepKinds: {
  readonly [Kind in Step["kind"]]: StepKind<Kind>;
} = {
  call: callKind,
  http: callKind,
  filter: filterKind,
  map: mapKind,
  reduce: reduceKind,
  sort: sortKind,
  limit: limitKind,
  distinct: distinctKind,
  join: joinKind,
  group: groupKind,
  compute: computeKind,
  flatten: flattenKind,
  take: takeKind,
  judge: judgeKind,
  fail: failKind,
  if: ifKind,
  parallel: parallelKind,
  until: untilKind,
  wait: waitKind,
  run: runKind,
};
