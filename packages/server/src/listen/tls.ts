import { readFile } from "node:fs/promises";
import type { Server, ServerOptions } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { requireText, systemClock } from "@svc/core";
import { ConfigError } from "../config/environment.ts";
import { pairOf, type ReadFile, type TlsFiles, type TlsPair } from "../config/tls-pair.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";

/** The certificate of a node, as its files have it. */
export type Tls = {
  /** Makes a server that speaks TLS 1.2 or newer, with the certificate of the files from each handshake on. */
  createServer(options: ServerOptions): Server;
  /** Looks at the files now, as is done every 2 seconds. Never rejects: what is wrong is logged, and the certificate stays. */
  reload(): Promise<void>;
  /** Looks at them no more. */
  stop(): Promise<void>;
};

/** How often the files are looked at by default, milliseconds. Not watched: a mounted secret is exchanged by its links. */
const lookMs = 2_000;
// Node's own is 120 s, during which a client may hold a connection without a word.
const handshakeTimeout = 10_000;

/** Reads certificate and key. Rejects with ConfigError when they cannot be used. */
export async function openTls(files: TlsFiles, logger: Logger, everyMs: number = lookMs): Promise<Tls> {
  let pair = await readPair(files);
  let warned = "";
  const servers = new Set<ReturnType<typeof createServer>>();
  const look = async () => {
    try {
      const next = await readPair(files);
      warned = "";
      if (next.digest === pair.digest) return;
      pair = next;
      for (const server of servers) server.setSecureContext(contextOf(next));
      logger.info(
        { validTo: next.validTo },
        "SVC_TLS_CERT and SVC_TLS_KEY are read again: new connections get the new certificate",
      );
    } catch (error) {
      // Between the exchange of the one file and of the other they do not fit, so this may pass.
      const { message } = error as Error;
      if (message !== warned) logger.warn(`the certificate before stays: ${message}`);
      warned = message;
    }
  };
  const loop = startLoop({ clock: systemClock, everyMs, run: look, onError: () => {} });
  return {
    createServer(options) {
      const server = createServer({ ...options, ...contextOf(pair), handshakeTimeout });
      // What fails in its handshake cannot read an answer: Node would hand it to the handler of broken requests.
      server.removeAllListeners("tlsClientError").on("tlsClientError", (_error, socket: Socket) => socket.destroy());
      servers.add(server);
      server.once("close", () => servers.delete(server));
      return server;
    },
    reload: look,
    stop: () => loop.stop(),
  };
}

function contextOf({ cert, key }: TlsPair) {
  return { cert, key, minVersion: "TLSv1.2" } as const;
}

async function readPair(files: TlsFiles): Promise<TlsPair> {
  const [cert, key] = await Promise.all([read(files.certFile), read(files.keyFile)]);
  const found = pairOf(files, cert, key);
  if ("faults" in found) throw new ConfigError(found.faults);
  return found.pair;
}

async function read(file: string): Promise<ReadFile> {
  try {
    return { text: requireText(await readFile(file)) };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? "unreadable" };
  }
}
