import { createHash, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { ConfigFault } from "./environment.ts";

/** `certFile`: file of the certificate with its chain. `keyFile`: file of the private key. Both are PEM files. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

/** Content of a file, or the error code if it could not be read. */
export type ReadFile = { readonly text: string } | { readonly code: string };

/** Certificate and private key as PEM texts. `digest` changes if the certificate or the key changes. */
export type TlsPair = {
  readonly cert: string;
  readonly key: string;
  readonly digest: string;
  readonly validTo: string;
};

/** Returns the certificate and key in two files, or all faults of the files. The faults contain no part of the key. */
export function pairOf(
  { certFile, keyFile }: TlsFiles,
  cert: ReadFile,
  key: ReadFile,
): { readonly pair: TlsPair } | { readonly faults: readonly ConfigFault[] } {
  const certificate = certificateOf(certFile, cert);
  const privateKey = privateKeyOf(keyFile, key);
  if ("message" in certificate || "message" in privateKey) {
    return { faults: [certificate, privateKey].filter((one) => "message" in one) };
  }
  if (!certificate.parsed.checkPrivateKey(privateKey.parsed)) {
    const message = `${keyFile} is not the key of the first certificate in ${certFile}`;
    return { faults: [{ variable: "SVC_TLS_KEY", message }] };
  }
  const texts = { cert: certificate.text, key: privateKey.text };
  const digest = createHash("sha256").update(texts.cert).update("\0").update(texts.key).digest("hex");
  return { pair: { ...texts, digest, validTo: certificate.parsed.validTo } };
}

type ParsedFile<Value> = { readonly text: string; readonly parsed: Value };

/** Returns the first certificate of a PEM file, or the fault of the file. */
export function certificateOf(file: string, read: ReadFile): ParsedFile<X509Certificate> | ConfigFault {
  const reason = `${file} contains no PEM certificate`;
  return parsedOf("SVC_TLS_CERT", file, read, (text) => new X509Certificate(text), reason);
}

/** Returns the private key of a PEM file, or the fault of the file. */
export function privateKeyOf(file: string, read: ReadFile): ParsedFile<KeyObject> | ConfigFault {
  const reason = `${file} contains no PEM private key that opens without a passphrase`;
  return parsedOf("SVC_TLS_KEY", file, read, createPrivateKey, reason);
}

function parsedOf<Value>(
  variable: "SVC_TLS_CERT" | "SVC_TLS_KEY",
  file: string,
  read: ReadFile,
  parse: (text: string) => Value,
  reason: string,
): ParsedFile<Value> | ConfigFault {
  if ("code" in read) return { variable, message: `${file} cannot be read (${read.code}); name a readable PEM file` };
  try {
    return { text: read.text, parsed: parse(read.text) };
  } catch {
    return { variable, message: reason };
  }
}
