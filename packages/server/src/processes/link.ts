import type { SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { ProcessMessage, SupervisorMessage } from "./messages.ts";
import type { ProcessShare } from "./share.ts";

/** The side of a process of its channel to the supervisor. */
export type ProcessLink = {
  /** What the supervisor shares. */
  readonly share: Promise<ProcessShare>;
  /** Resolves when the supervisor wants this process to end what it has under way, and itself. */
  readonly stopped: Promise<void>;
  /** Calls `reload` each time the supervisor was told to read its files again. */
  onReload(reload: () => void): void;
  /** Resolves once it is on its way. */
  tell(message: ProcessMessage): Promise<void>;
};

/** Opens it; undefined where there is no supervisor. When the supervisor is gone, so is this process: its store went with it. */
export function openProcessLink(): ProcessLink | undefined {
  if (process.send === undefined) return undefined;
  const begun = Promise.withResolvers<ProcessShare>();
  const ports = Promise.withResolvers<SharedPorts>();
  const stopped = Promise.withResolvers<void>();
  const sums = new Map<number, (text: string) => void>();
  let requests = 0;
  // Told to before there is what can: it is done then.
  let isReloadDue = false;
  let reload = () => {
    isReloadDue = true;
  };
  let readMetrics = async (): Promise<MetricValues> => [];
  const share: Omit<ProcessShare, "isFirst" | "store" | "audience"> = {
    firstKey: undefined,
    takePorts() {
      void tell({ type: "loaded" });
      return ports.promise;
    },
    answerMetrics(read) {
      readMetrics = read;
    },
    sumMetrics: () =>
      new Promise((resolve) => {
        requests += 1;
        sums.set(requests, resolve);
        void tell({ type: "sumMetrics", request: requests });
      }),
  };
  const receive = async (message: SupervisorMessage): Promise<void> => {
    switch (message.type) {
      case "begin":
        return begun.resolve({ ...share, ...message });
      case "listen":
        return ports.resolve(message.ports);
      case "readMetrics":
        return tell({ type: "metricsRead", request: message.request, values: await readMetrics() });
      case "metricsSummed":
        sums.get(message.request)?.(message.text);
        sums.delete(message.request);
        return;
      case "reload":
        return reload();
      case "stop":
        return stopped.resolve();
    }
  };
  process.on("message", (message) => void receive(message as SupervisorMessage));
  process.on("disconnect", () => process.exit(1));
  return {
    share: begun.promise,
    stopped: stopped.promise,
    onReload(listener) {
      reload = listener;
      if (isReloadDue) listener();
    },
    tell,
  };
}

function tell(message: ProcessMessage): Promise<void> {
  return new Promise((resolve) => {
    // Where it cannot be sent, the supervisor is gone, and `disconnect` follows.
    process.send?.(message, () => resolve());
  });
}
