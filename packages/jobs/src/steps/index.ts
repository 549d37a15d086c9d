import type { Step } from "@svc/program";
import { callKind } from "./call.ts";
import { filterKind } from "./filter.ts";
import { httpKind } from "./http.ts";
import { ifKind } from "./if.ts";
import { judgeKind } from "./judge.ts";
import { mapKind } from "./map.ts";
import { reduceKind } from "./reduce.ts";
import type { StepKind } from "./step-kind.ts";
import { untilKind } from "./until.ts";
import { waitKind } from "./wait.ts";

/** Every kind of step, as the driver runs it. */
export const stepKinds: {
  readonly [Kind in Step["kind"]]: StepKind<Kind>;
} = {
  call: callKind,
  http: httpKind,
  filter: filterKind,
  map: mapKind,
  reduce: reduceKind,
  judge: judgeKind,
  if: ifKind,
  until: untilKind,
  wait: waitKind,
};
