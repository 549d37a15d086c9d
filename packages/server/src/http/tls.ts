import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server, ServerOptions } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { systemClock } from "@svc/core";
import { ConfigError } from "../config/config-error.ts";
import type { TlsFiles } from "../config/listen.ts";
import type { VariableName } from "../config/variables.ts";
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
  let told = "";
  const servers = new Set<ReturnType<typeof createServer>>();
  const look = async () => {
    try {
      const next = await readPair(files);
      told = "";
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
      if (message !== told) logger.warn(`the certificate before stays: ${message}`);
      told = message;
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

type Pair = { cert: string; key: string; digest: string; validTo: string };

function contextOf({ cert, key }: Pair) {
  return { cert, key, minVersion: "TLSv1.2" } as const;
}

async function readPair({ certFile, keyFile }: TlsFiles): Promise<Pair> {
  const cert = await readPem("SVC_TLS_CERT", certFile);
  const key = await readPem("SVC_TLS_KEY", keyFile);
  const certificate = parsed("SVC_TLS_CERT", `${certFile} holds no PEM certificate`, () => new X509Certificate(cert));
  const reason = `${keyFile} holds no PEM private key that opens without a passphrase`;
  const privateKey = parsed("SVC_TLS_KEY", reason, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw fault("SVC_TLS_KEY", `${keyFile} is not the key of the first certificate in ${certFile}`);
  }
  const digest = createHash("sha256").update(cert).update("\0").update(key).digest("hex");
  return { cert, key, digest, validTo: certificate.validTo };
}

async function readPem(variable: VariableName, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw fault(
      variable,
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}); name a readable PEM file`,
    );
  }
}

function parsed<Value>(variable: VariableName, reason: string, parse: () => Value): Value {
  try {
    return parse();
  } catch {
    throw fault(variable, reason);
  }
}

function fault(variable: VariableName, message: string): ConfigError {
  return new ConfigError([{ variable, message }]);
}
