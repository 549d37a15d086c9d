import type { IncomingMessage, ServerResponse } from "node:http";

/** An answer that may be preceded by events, as Server-Sent Events have them. */
export type EventStream = {
  /** Sends one, a line of text; the first opens the stream. Lost when the client has gone or reads more slowly than they come. */
  send(event: string): void;
  isOpen(): boolean;
  /** Sends the last one, and ends the answer. */
  end(event: string): void;
};

/** What a request can be answered with by and by; undefined where its client does not read that. */
export function createEventStream(req: IncomingMessage, res: ServerResponse): EventStream | undefined {
  if (!/\btext\/event-stream\b/i.test(req.headers.accept ?? "")) return undefined;
  const open = () => {
    // Some proxies would keep events back until there are many of them.
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
