import { type Catalog, isBound, sidesOf } from "@svc/catalog";
import type { Config } from "../config/settings.ts";
import type { FirstKey } from "./first-key.ts";

/** Returns the line that shows the address of the running server and the place where it stores its data. */
export function startText({ databaseUrl, dataDir, sandboxMode }: Config, url: string, version: string): string {
  const data = databaseUrl === undefined ? `data in ${dataDir}` : "data in the database of SVC_DATABASE_URL";
  const apps = sandboxMode !== "off" ? "; the sandbox answers tool calls in place of real apps (SVC_SANDBOX)" : "";
  return `svc ${version} listens on ${url}, ${data}${apps}`;
}

/**
 * Returns the text of the first start: the key, the path of its file, and three commands to try. `listenedUrl`: the listening address of
 * the server.
 */
export function firstKeyText(listenedUrl: string, { text, file }: FirstKey): string {
  return `
Project "default" has a key with the role approver, kept in ${file}:

  ${text}

In another terminal, in the checkout:

  export SVC_API_KEY=$(cat ${shellWord(file)}) SVC_URL=${reachableUrl(listenedUrl)}

  npx svc search "schedule a meeting"
  npx svc listen
  curl -s $SVC_URL/svc.v1.CatalogService/ListToolkits -H "Authorization: Bearer $SVC_API_KEY" -H "Content-Type: application/json" -d '{}'

`;
}

/**
 * Returns the text that shows the console's link when the server starts on a terminal. `link`: opens the console once, within ten minutes.
 */
export function consoleText(link: string): string {
  return `Console: ${link}\n(once, within ten minutes; later: npx svc console)\n\n`;
}

/**
 * Returns a text that says for which toolkits (apps) a host is set, so that their tools can be called. Undefined if the emulator (sandbox)
 * answers for all toolkits.
 */
export function bindingsText({ sandboxMode }: Config, { toolkits }: Catalog): string | undefined {
  const all = [...toolkits.values()];
  if (sandboxMode !== "off") {
    const { live } = sidesOf(all, sandboxMode);
    return live.length === 0
      ? undefined
      : `toolkits that call real apps: ${live.join(", ")}; the sandbox plays the others`;
  }
  const bound = all.filter(isBound).map(({ slug }) => slug);
  const unbound = all.length - bound.length;
  const rest =
    unbound === 0
      ? "every toolkit has one"
      : `${unbound} of ${all.length} have none: their calls end as not_bound until SVC_DEPLOYMENT names a file with provider_base_url for them`;
  return `toolkits bound to a host: ${bound.join(", ") || "none"}; ${rest}`;
}

function reachableUrl(listenedUrl: string): string {
  return listenedUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
