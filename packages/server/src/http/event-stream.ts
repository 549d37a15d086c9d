import type { IncomingMessage, ServerResponse } from "node:http";

/** An answer that can become a stream of Server-Sent Events. */
export type EventStream = {
  /**
   * Sends an event, which is one line of text. The first event starts the stream. The event is lost if the client has disconnected or reads
   * too slowly.
   */
  send(event: string): void;
  isOpen(): boolean;
  /** Sends the last event and ends the answer. */
  end(event: string): void;
};

/** Creates an event stream for a request; undefined if its client does not accept one. */
export function createEventStream(req: IncomingMessage, res: ServerResponse): EventStream | undefined {
  if (!/\btext\/event-stream\b/i.test(req.headers.accept ?? "")) return undefined;
  const open = () => {
    // This header stops some proxies from collecting events before they forward them.
    res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
  };
  return {
    send(event) {
      if (res.destroyed || res.writableNeedDrain) return;
      if (!res.headersSent) open();
      res.write(textOf(event));
    },
    isOpen: () => res.headersSent,
    end: (event) => void res.end(textOf(event)),
  };
}

function textOf(event: string): string {
  return `event: message\ndata: ${event}\n\n`;
}
