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
/**
 * Maximum number of inboxes of a project for which a node keeps requests. The one that was not used for the longest time loses its requests.
 */
const inboxesMax = 10;
/** Maximum number of bytes of a body that are kept. */
export const inboxBodyBytesMax = 8_192;
/** Maximum number of headers of a request that are kept, and of characters of their names and values. */
const headersMax = { count: 64, characters: 4_096 };
/** Approximate number of bytes that the kept requests of all inboxes of a node take at most. */
const nodeBytesMax = 33_554_432;
/** Headers whose values are kept: those of deliveries, and those that describe a body or a client. Other values may be credentials. */
const shownHeaders = /^(?:webhook-|x-svc-|ce-|content-|user-agent$)/;

/** A request that a sandbox inbox received. */
type InboxRequest = {
  readonly receivedAtMs: number;
  readonly method: string;
  /** Headers by name in lower case. A value that may be a credential is `***`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of headers that were not kept. */
  readonly headersLeftOut: number;
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
  const kept = createKept();
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
      const project = read(id);
      if (project === undefined) return;
      const body = new TextDecoder().decode(start.subarray(0, inboxBodyBytesMax));
      kept.add(project.toString("hex"), id, {
        ...{ receivedAtMs: clock.now(), method, body, bodyBytes },
        ...keptHeaders(headers),
      });
    },
    list(projectId, id) {
      const project = read(id);
      if (project === undefined || !project.equals(projectPart(projectId))) return undefined;
      return kept.of(project.toString("hex"), id);
    },
  };
}

type KeptOfProject = { bytes: number; readonly inboxes: LeastRecentlyUsed<string, readonly InboxRequest[]> };

/**
 * Creates the memory of a node's inboxes. A project has at most `inboxesMax` inboxes in it. If all take more than `nodeBytesMax`, the
 * project that takes the most loses its oldest inboxes first.
 */
function createKept() {
  const projects = new Map<string, KeptOfProject>();
  let bytes = 0;
  const count = (own: KeptOfProject, requests: readonly InboxRequest[], sign: 1 | -1) => {
    const size = requests.reduce((sum, request) => sum + sizeOf(request), 0) * sign;
    own.bytes += size;
    bytes += size;
  };
  const added = (project: string): KeptOfProject => {
    const own: KeptOfProject = {
      bytes: 0,
      inboxes: new LeastRecentlyUsed(inboxesMax, (gone) => count(own, gone, -1)),
    };
    projects.set(project, own);
    return own;
  };
  return {
    of: (project: string, id: string) => projects.get(project)?.inboxes.get(id) ?? [],
    add(project: string, id: string, request: InboxRequest) {
      const own = projects.get(project) ?? added(project);
      const requests = [request, ...(own.inboxes.get(id) ?? [])].slice(0, requestsMax);
      count(own, requests, 1);
      own.inboxes.set(id, requests);
      while (bytes > nodeBytesMax) {
        const [name, largest] = [...projects].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most));
        largest.inboxes.evict();
        if (largest.bytes === 0) projects.delete(name);
      }
    },
  };
}

/** Returns the approximate number of bytes that a request takes in memory: two for each character, and 512 for the rest. */
function sizeOf({ headers, body, method }: InboxRequest): number {
  const named = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
  return 512 + 2 * (body.length + method.length + named);
}

function projectPart(projectId: ProjectId): Buffer {
  return Buffer.from(uuidOfId(projectId).replaceAll("-", ""), "hex");
}

function keptHeaders(headers: ArrivedRequest["headers"]): Pick<InboxRequest, "headers" | "headersLeftOut"> {
  const kept: Record<string, string> = {};
  let [room, places, headersLeftOut] = [headersMax.characters, headersMax.count, 0];
  for (const [name, value] of Object.entries(headers)) {
    const text = shownHeaders.test(name) ? [value ?? []].flat().join(", ") : "***";
    const size = name.length + text.length;
    if (places === 0 || size > room) {
      headersLeftOut++;
      continue;
    }
    places--;
    room -= size;
    kept[name] = text;
  }
  return { headers: kept, headersLeftOut };
}
