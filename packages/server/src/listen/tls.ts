import { readFile } from "node:fs/promises";
import type { Server, ServerOptions } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { requireText, systemClock } from "@svc/core";
import { ConfigError } from "../config/environment.ts";
import { pairOf, type ReadFile, type TlsFiles, type TlsPair } from "../config/tls-pair.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";

/** The TLS certificate of a node. */
export type Tls = {
  /** Creates a server for TLS 1.2 or newer. Each handshake uses the current certificate. */
  createServer(options: ServerOptions): Server;
  /**
   * Immediately reads the files of the TLS certificate and key again. svc also reads them every 2 seconds without this call. Never rejects:
   * faults are logged, and the previous certificate stays in use.
   */
  reload(): Promise<void>;
  /** Stops the repeated reading of the certificate files. */
  stop(): Promise<void>;
};

/**
 * Default interval for reading the certificate files, in milliseconds. svc reads the files repeatedly and does not watch them for changes.
 * Kubernetes, for example, replaces a mounted secret through symbolic links, which a watch of the file can miss.
 */
const lookMs = 2_000;
// Maximum time for a TLS handshake in milliseconds. Node's default is 120 s, in which a client could keep a silent connection.
const handshakeTimeout = 10_000;

/** Returns the certificate of a node. Rejects with ConfigError if the certificate or the key cannot be used. */
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
      // The error may be temporary: while the files are being replaced, one file may be new and the other old. So the current certificate
      // stays in use.
      const { message } = error as Error;
      if (message !== warned) logger.warn(`the earlier certificate stays in use: ${message}`);
      warned = message;
    }
  };
  const loop = startLoop({ clock: systemClock, everyMs, run: look, onError: () => {} });
  return {
    createServer(options) {
      const server = createServer({ ...options, ...contextOf(pair), handshakeTimeout });
      // A client whose handshake failed cannot read an answer, so its connection is closed at once. Otherwise Node would pass it to the
      // handler of invalid requests.
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
