import { durationMs } from "@bufbuild/protobuf/wkt";
import { formatDuration } from "@svc/core";
import type { CallLimit } from "@svc/gen/tools";

/** What a limit holds calls to, for people: `4 at once, 10 in 1s`. */
export function boundsText({ concurrency, rate, paused }: CallLimit): string {
  if (paused) return "paused";
  const bounds = [
    ...(concurrency > 0 ? [`${concurrency} at once`] : []),
    ...(rate?.per === undefined ? [] : [`${rate.max} in ${formatDuration(Math.round(durationMs(rate.per)))}`]),
  ];
  return bounds.join(", ");
}
