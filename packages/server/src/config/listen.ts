import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { formatValue, requireText } from "@svc/core";
import type { ConfigReader } from "./reader.ts";
import { certificateOf, pairOf, privateKeyOf, type ReadFile, type TlsFiles } from "./tls-pair.ts";

/** Address to listen on; an IPv6 address without its brackets. */
export type ListenAddress = { readonly host: string; readonly port: number };

/**
 * Returns the address or host name that a text names, without the brackets of an IPv6 address. For another text, throws an Error whose
 * message says which form is correct.
 */
export function parseHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, "$1");
  if (/^[A-Za-z0-9.:%_-]+$/.test(host)) return host;
  throw new Error(`${formatValue(text)} is not an address or a host name, such as 0.0.0.0, :: or localhost`);
}

/**
 * Returns the host and port that a text names, with an IPv6 address in brackets. For another text, throws an Error whose message says which
 * form is correct.
 */
export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host: parseHost(host), port };
  throw new Error(`${formatValue(text)} is not of the form host:port, such as 127.0.0.1:9090 or [::1]:9090`);
}

/** Reports a fault if SVC_ADMIN_LISTEN uses the same port as the main listener. Port 0 means any free port, so it is never the same. */
export function checkApart(main: ListenAddress, admin: ListenAddress | undefined, reader: ConfigReader): void {
  if (admin === undefined || admin.port === 0 || admin.port !== main.port || !overlap(main.host, admin.host)) return;
  reader.fault(
    "SVC_ADMIN_LISTEN",
    `${formatValue(reader.text("SVC_ADMIN_LISTEN"))} is already the address of SVC_HOST and SVC_PORT (${main.host}, port ${main.port}); set another port`,
  );
}

function overlap(one: string, other: string): boolean {
  const hosts = [one.toLowerCase(), other.toLowerCase()];
  // The host `::` listens on all addresses, also on IPv4 addresses. So it overlaps with every other host.
  return hosts[0] === hosts[1] || hosts.includes("::") || (hosts.includes("0.0.0.0") && !hosts.some(isIPv6));
}

/**
 * Returns the host names and addresses in SVC_HOSTS, normalized as JavaScript's `URL` class does it. Reports a fault for an entry with a
 * port or a scheme.
 */
export function readHosts(reader: ConfigReader): string[] {
  const hosts: string[] = [];
  for (const entry of reader.list("SVC_HOSTS")) {
    const name = isIPv6(entry) ? `[${entry}]` : entry;
    const url = URL.parse(`http://${name}`);
    const isName = url !== null && /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/.test(name);
    if (isName) hosts.push(url.hostname);
    else reader.fault("SVC_HOSTS", `${formatValue(entry)} is not a host name or address without scheme and port`);
  }
  return hosts;
}

/**
 * Returns the files in SVC_TLS_CERT and SVC_TLS_KEY; undefined if neither is set. Reports a fault if only one is set, if a file is invalid,
 * or if certificate and key do not match.
 */
export function readTlsFiles(reader: ConfigReader, pathOf: (text: string) => string): TlsFiles | undefined {
  const [cert, key] = [reader.text("SVC_TLS_CERT"), reader.text("SVC_TLS_KEY")];
  if (cert !== undefined && key !== undefined) {
    const files = { certFile: pathOf(cert), keyFile: pathOf(key) };
    const read = pairOf(files, readNow(files.certFile), readNow(files.keyFile));
    if ("faults" in read) reader.faults.push(...read.faults);
    return files;
  }
  if (cert !== undefined) {
    addFault(certificateOf(pathOf(cert), readNow(pathOf(cert))), reader);
    reader.fault("SVC_TLS_KEY", "is unset, and SVC_TLS_CERT is set; name the file of its private key");
  }
  if (key !== undefined) {
    reader.fault("SVC_TLS_CERT", "is unset, and SVC_TLS_KEY is set; name the file of its certificate");
    addFault(privateKeyOf(pathOf(key), readNow(pathOf(key))), reader);
  }
  return undefined;
}

function addFault(found: ReturnType<typeof certificateOf | typeof privateKeyOf>, { faults }: ConfigReader): void {
  if ("message" in found) faults.push(found);
}

function readNow(file: string): ReadFile {
  try {
    return { text: requireText(readFileSync(file)) };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? "unreadable" };
  }
}
