import { type Clock, useTracer } from "@svc/core";
import { exportOpenTelemetryVariables } from "../config/environment.ts";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";

/** The traces of this process. `stop`: sends the spans that are left within `flushMs`, and makes no more. */
export type Tracing = { stop(): Promise<void> };

/** Maximum time in milliseconds in which a stopping process sends the spans that are left. */
const flushMs = 5_000;

/**
 * Starts to make spans and to send them to the receiver of OTEL_EXPORTER_OTLP_ENDPOINT. Returns undefined if there is none. Only then, the
 * libraries of OpenTelemetry are not loaded, and spans cost nothing.
 */
export async function startTracing(
  { tracing, environment }: Pick<Config, "tracing" | "environment">,
  { clock, logger, nodeId }: { readonly clock: Clock; readonly logger: Logger; readonly nodeId: string },
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined;
  exportOpenTelemetryVariables(environment);
  const { openTracer } = await import("./open-tracer.ts");
  const { tracer, shutdown } = openTracer(tracing, { clock, logger, nodeId });
  useTracer(tracer);
  return {
    async stop() {
      useTracer(undefined);
      const flushed = new AbortController();
      await Promise.race([shutdown(), clock.wait(flushMs, flushed.signal)]);
      flushed.abort();
    },
  };
}
