import { durationMs } from "@bufbuild/protobuf/wkt";
import { type CatalogView, nearest } from "@svc/catalog";
import { callLimitBounds, field, formatDuration, text } from "@svc/core";
import type { CallLimitRow } from "@svc/db/call-limits/repo";
import type { CallLimit, CallRate } from "@svc/gen/tools";
import { toolFaults } from "../errors.ts";
import { compileKeyExpression } from "../limits/key-expression.ts";

const { concurrencyMax, rateMax } = callLimitBounds;
const perMs = { min: 1_000, max: 86_400_000 };

/** A limit of PutCallLimit as it is to be stored, or the first of the faults that PutCallLimit names. `view` is the project's. */
export function readCallLimit(view: CatalogView, given: CallLimit | undefined, nowMs: number): CallLimitRow {
  const { name = "", toolkitSlug = "", keyExpression = "", concurrency = 0, rate, paused = false } = given ?? {};
  if (!/^[a-z][a-z0-9_-]{0,59}$/.test(name)) throw toolFaults.CALL_LIMIT_NAME_INVALID(name);
  if (toolkitSlug !== "" && !view.toolkits.has(toolkitSlug)) {
    throw toolFaults.CALL_LIMIT_TOOLKIT_NOT_FOUND(toolkitSlug, nearest(toolkitSlug, view.toolkits.keys()));
  }
  const compiled = compileKeyExpression(keyExpression);
  if ("fault" in compiled) throw toolFaults.KEY_EXPRESSION_INVALID(compiled.fault);
  if (concurrency < 0 || concurrency > concurrencyMax)
    throw toolFaults.CALL_LIMIT_BOUND_INVALID("concurrency", `is ${concurrency}`);
  if (concurrency === 0 && rate === undefined && !paused) {
    throw toolFaults.CALL_LIMIT_BOUND_INVALID(
      "concurrency",
      text`and ${field("limit.rate")} are missing, and the limit is not paused`,
    );
  }
  const bounds = rate === undefined ? { rateMax: 0, ratePerMs: 0 } : readRate(rate);
  const times = { createdAt: nowMs, updatedAt: nowMs };
  return { name, toolkitSlug, keyExpression, concurrency, ...bounds, isPaused: paused, ...times };
}

function readRate({ max, per }: CallRate): Pick<CallLimitRow, "rateMax" | "ratePerMs"> {
  if (max < 1 || max > rateMax) throw toolFaults.CALL_LIMIT_BOUND_INVALID("rate.max", `is ${max}`);
  if (per === undefined) throw toolFaults.CALL_LIMIT_BOUND_INVALID("rate.per", "is missing");
  const ratePerMs = Math.round(durationMs(per));
  if (ratePerMs < perMs.min || ratePerMs > perMs.max) {
    throw toolFaults.CALL_LIMIT_BOUND_INVALID(
      "rate.per",
      `is ${ratePerMs < 0 ? "negative" : formatDuration(ratePerMs)}`,
    );
  }
  return { rateMax: max, ratePerMs };
}
