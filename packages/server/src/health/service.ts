import type { ServiceImpl } from "@connectrpc/connect";
import type { Clock } from "@svc/core";
import { type Health as HealthService, HealthCheckResponse_ServingStatus as ServingStatus } from "@svc/gen/health";
import { serverFaults } from "../errors.ts";
import type { Health } from "./health.ts";

const watchMs = 1_000;

/**
 * Creates the standard health service of gRPC (grpc.health.v1.Health) for one node. `services`: full names of the node's services. The
 * answer is the same for all of them: the state of the node.
 */
export function createHealthService({
  health,
  clock,
  services,
}: {
  health: Health;
  clock: Clock;
  services: () => ReadonlySet<string>;
}): ServiceImpl<typeof HealthService> {
  const statusOf = async (service: string) => {
    if (service !== "" && !services().has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return (await health.check()) === "ready" ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  };
  return {
    async check({ service }) {
      const status = await statusOf(service);
      if (status === ServingStatus.SERVICE_UNKNOWN) throw serverFaults.HEALTH_SERVICE_UNKNOWN(service);
      return { status };
    },
    async *watch({ service }, { signal }) {
      let sent: ServingStatus | undefined;
      while (!signal.aborted) {
        const status = await statusOf(service);
        if (status !== sent) yield { status };
        sent = status;
        // A stopping node will not become healthy again, so the stream ends and the client should use another node.
        if (health.isDraining) return;
        await clock.wait(watchMs, signal);
      }
    },
  };
}
