import { createHmac } from "node:crypto";
import {
  type Clock,
  equalConstantTime,
  generateKeyBytes,
  LeastRecentlyUsed,
  type ProjectId,
  type Sealer,
  uuidOfId,
} from "@svc/core";

/** Prefix of the paths of sandbox inboxes: `/sandbox/inbox/<id>`. */
export const inboxPrefix = "/sandbox/inbox/";

/** Maximum number of requests that a node keeps for each inbox. */
const requestsMax = 50;
/** Maximum number of inboxes for which a node keeps requests. The inbox that was not used for the longest time loses its requests. */
const inboxesMax = 50;
/** Maximum number of bytes of a body that are kept. With the limits above, all inboxes of a node take at most about 30 MB. */
export const inboxBodyBytesMax = 8_192;
/** Maximum number of characters of the names and values of the headers that are kept. */
const headerCharactersMax = 4_096;

/** A request that a sandbox inbox received. */
type InboxRequest = {
  readonly receivedAtMs: number;
  readonly method: string;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beginning of the body as text. */
  readonly body: string;
  /** Size of the whole body in bytes. */
  readonly bodyBytes: number;
};

/** A request as it arrived at an inbox. `start`: the first bytes of the body. */
type ArrivedRequest = Pick<InboxRequest, "method" | "bodyBytes"> & {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly start: Uint8Array;
};

/**
 * The sandbox inboxes of a node: addresses of the deployment that accept every request and show what they received. The requests are kept
 * in memory. An inbox has no row: its id names its project and is signed, so that every node of the deployment accepts it.
 */
export type Inboxes = {
  /**
   * Returns the id of an inbox of a project. `name`: a text for which the id is always the same in this project. Default: a new inbox.
   */
  idOf(projectId: ProjectId, name?: string): string;
  /** True if a deployment with the same vault key made the id. */
  isKnown(id: string): boolean;
  /** Keeps a request for an inbox. */
  keep(id: string, request: ArrivedRequest): void;
  /** Returns the requests of a project's inbox, newest first. Returns undefined if the project has no such inbox. */
  list(projectId: ProjectId, id: string): readonly InboxRequest[] | undefined;
};

const projectBytes = 16;
const randomPartBytes = 8;
const signatureBytes = 16;

/** Creates the inboxes of a node. No inbox has requests at first. */
export function createInboxes({ clock, sealer }: { readonly clock: Clock; readonly sealer: Sealer }): Inboxes {
  const kept = new LeastRecentlyUsed<string, InboxRequest[]>(inboxesMax);
  const sign = (secret: Uint8Array, named: Uint8Array) =>
    createHmac("sha256", secret).update(named).digest().subarray(0, signatureBytes);
  const purpose = "sandbox inboxes";
  /** Returns the bytes that name the project of an inbox. Returns undefined if the deployment did not make the id. */
  const read = (id: string): Buffer | undefined => {
    const bytes = Buffer.from(id, "base64url");
    const isWhole = bytes.byteLength === projectBytes + randomPartBytes + signatureBytes;
    if (!isWhole || bytes.toString("base64url") !== id) return undefined;
    const named = bytes.subarray(0, -signatureBytes);
    const signature = bytes.subarray(-signatureBytes).toString("hex");
    const isOwn = sealer
      .subkeys(purpose)
      .some(({ secret }) => equalConstantTime(sign(secret, named).toString("hex"), signature));
    return isOwn ? named.subarray(0, projectBytes) : undefined;
  };
  return {
    idOf(projectId, name) {
      const secret = sealer.subkey(purpose);
      const project = projectPart(projectId);
      const own =
        name === undefined
          ? generateKeyBytes().subarray(0, randomPartBytes)
          : createHmac("sha256", secret).update(project).update(name).digest().subarray(0, randomPartBytes);
      const named = Buffer.concat([project, own]);
      return Buffer.concat([named, sign(secret, named)]).toString("base64url");
    },
    isKnown: (id) => read(id) !== undefined,
    keep(id, { method, headers, start, bodyBytes }) {
      const request = {
        ...{ receivedAtMs: clock.now(), method, headers: keptHeaders(headers), bodyBytes },
        body: new TextDecoder().decode(start.subarray(0, inboxBodyBytesMax)),
      };
      kept.set(id, [request, ...(kept.get(id) ?? [])].slice(0, requestsMax));
    },
    list(projectId, id) {
      const project = read(id);
      if (project === undefined || !project.equals(projectPart(projectId))) return undefined;
      return kept.get(id) ?? [];
    },
  };
}

function projectPart(projectId: ProjectId): Buffer {
  return Buffer.from(uuidOfId(projectId).replaceAll("-", ""), "hex");
}

function keptHeaders(headers: ArrivedRequest["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  let room = headerCharactersMax;
  for (const [name, value] of Object.entries(headers)) {
    const text = [value ?? []].flat().join(", ");
    room -= name.length + text.length;
    if (room < 0) break;
    kept[name] = text;
  }
  return kept;
}
