import type { SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { ProcessMessage, SupervisorMessage } from "./messages.ts";
import type { ProcessShare } from "./share.ts";

/** Channel on which a process exchanges messages with its supervisor (the parent process that started it). */
export type ProcessLink = {
  /**
   * Resolves with the data that the supervisor (the parent process) shares: the prepared database, the ports, and access to the metrics of
   * all processes.
   */
  readonly share: Promise<ProcessShare>;
  /** Resolves when the supervisor requests that this process finishes its work and ends. */
  readonly stopped: Promise<void>;
  /**
   * Calls `reload` each time the supervisor requests that this process reads the environment file (SVC_ENV_FILE) and the TLS certificate
   * again.
   */
  onReload(reload: () => void): void;
  /** Sends a message to the supervisor. Resolves when the message has been sent. */
  tell(message: ProcessMessage): Promise<void>;
};

/** Returns the link to the supervisor process, or undefined if there is none. If the supervisor ends, this process ends too. */
export function openProcessLink(): ProcessLink | undefined {
  if (process.send === undefined) return undefined;
  const begun = Promise.withResolvers<ProcessShare>();
  const ports = Promise.withResolvers<SharedPorts>();
  const stopped = Promise.withResolvers<void>();
  const sums = new Map<number, (text: string) => void>();
  let requests = 0;
  // True if the supervisor requested a reload before `onReload` was called. The callback is then called as soon as it is set.
  let isReloadDue = false;
  let reload = () => {
    isReloadDue = true;
  };
  let lookForWork = (): void => {};
  let isTelling = false;
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
    tellWorkDue() {
      // One message is enough for all work that is stored in one turn of the event loop.
      if (isTelling) return;
      isTelling = true;
      setImmediate(() => {
        isTelling = false;
        void tell({ type: "workDue" });
      });
    },
    onWorkDue(look) {
      lookForWork = look;
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
      case "workDue":
        return lookForWork();
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
    // If the message cannot be sent, the supervisor has ended, and the event `disconnect` follows.
    process.send?.(message, () => resolve());
  });
}
