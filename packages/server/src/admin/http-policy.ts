import { formatValue, parseHttpHost } from "@svc/core";
import type { HttpPolicy } from "@svc/gen/admin";
import { adminFaults } from "./errors.ts";

const hostsMax = 100;

/** The hosts of a request, each once and as it is compared. Undefined, for what stays as it is, when they were not sent. Throws HTTP_HOST_INVALID. */
export function readHttpHosts(sent: HttpPolicy | undefined): string[] | undefined {
  if (sent === undefined) return undefined;
  const { hosts } = sent;
  if (hosts.length > hostsMax) throw adminFaults.HTTP_HOST_INVALID("http.hosts", `has ${hosts.length} entries`);
  const read = hosts.map((text, index) => {
    const host = parseHttpHost(text);
    if (host === undefined)
      throw adminFaults.HTTP_HOST_INVALID(`http.hosts[${index}]`, `${formatValue(text)} is not a host alone`);
    return host;
  });
  return [...new Set(read)];
}
