import { fileURLToPath } from "node:url";
import type { ConfigReader } from "./reader.ts";

/** Target to which svc sends records. `address`: the address as the operator wrote it, which identifies the target. */
export type ExportTarget = { readonly address: string } & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "syslog"; readonly host: string; readonly port: number; readonly isTls: boolean }
  | { readonly kind: "http"; readonly url: string; readonly token: string | undefined }
);

/** Returns the target of SVC_EXPORT_TO with the token of SVC_EXPORT_TOKEN. Undefined if the variable is unset or wrong. */
export function readExportTarget(reader: ConfigReader): ExportTarget | undefined {
  const token = reader.text("SVC_EXPORT_TOKEN");
  const target = reader.parsed("SVC_EXPORT_TO", (text) => parseTarget(text, token));
  if (token !== undefined && target !== undefined && target.kind !== "http") {
    reader.fault("SVC_EXPORT_TOKEN", "is set, and SVC_EXPORT_TO is not the https address of a collector; unset it");
  }
  return target;
}

/** Returns a target. The text may contain a password, so error messages do not contain it. */
function parseTarget(address: string, token: string | undefined): ExportTarget {
  const url = URL.parse(address);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.hash === "";
  if (!isPlain) throw new Error(form);
  const { protocol, hostname, port } = url;
  switch (protocol) {
    case "file:":
      if (hostname !== "" || url.pathname.endsWith("/")) throw new Error(form);
      return { address, kind: "file", path: fileURLToPath(url) };
    case "syslog:":
    case "syslog+tls:": {
      const isTls = protocol === "syslog+tls:";
      if (hostname === "") throw new Error(form);
      const host = hostname.replace(/^\[|\]$/g, "");
      return { address, kind: "syslog", host, port: Number(port || (isTls ? 6_514 : 601)), isTls };
    }
    case "http:":
    case "https:":
      return { address, kind: "http", url: address, token };
    default:
      throw new Error(form);
  }
}

const form =
  "is not file:///path, syslog://host:601, syslog+tls://host:6514, or an http or https address without credentials";
