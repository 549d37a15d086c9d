import type { Config } from "../config/config.ts";
import type { FirstKey } from "./first-key.ts";

/** The line that says which service is up, and where its data is. */
export function startText({ databaseUrl, dataDir }: Config, url: string, version: string): string {
  const data = databaseUrl === undefined ? `data in ${dataDir}` : "data in the database of SVC_DATABASE_URL";
  return `svc ${version} listens on ${url}, ${data}`;
}

/** What the first start shows, once: the key, where it is kept, and three commands to try. `url` is where callers reach it, `listenedUrl` where it listens. */
export function firstKeyText(url: string, listenedUrl: string, { text, file }: FirstKey): string {
  return `
Project "default" has a key with the role approver, kept in ${file}:

  ${text}

Three commands to try:

  curl -s ${url}/svc.v1.CatalogService/ListToolkits -H "Authorization: Bearer $(cat ${file})" -H "Content-Type: application/json" -d '{}'
  curl -s ${url}/svc.v1.TriggersService/ListIngestEndpoints -H "Authorization: Bearer $(cat ${file})" -H "Content-Type: application/json" -d '{}'
  npx svc listen${urlOption(listenedUrl)}

`;
}

/** Nothing where the command line looks by itself. */
function urlOption(listenedUrl: string): string {
  const url = listenedUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  return url === "http://127.0.0.1:8080" ? "" : ` --url ${url}`;
}
