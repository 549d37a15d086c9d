import type { Step } from "@svc/program";
import { callKind } from "./call.ts";
import { computeKind, filterKind, reduceKind } from "./compute.ts";
import { failKind, ifKind, waitKind } from "./fail.ts";
import { distinctKind, flattenKind, groupKind } from "./group.ts";
import { joinKind } from "./join.ts";
import { judgeKind } from "./judge.ts";
import { mapKind } from "./map.ts";
import { parallelKind } from "./parallel.ts";
import { runKind } from "./run.ts";
import type { StepKind } from "./step-kind.ts";
import { limitKind, sortKind, takeKind } from "./take.ts";
import { untilKind } from "./until.ts";

/** Every kind of step, as the driver runs it. */
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
