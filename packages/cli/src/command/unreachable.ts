import { certificateFault } from "@svc/core";

/** Advice that the command line prints if no server runs at the called address. */
const startHint =
  "Start the service (`npm start` in a checkout, `svc serve` of a package), or give its address with --url or SVC_URL.";

// Error codes of a plain HTTP request to a TLS server, which closes the connection without an answer. The set `plain`, which follows, has
// the codes of the opposite case: a TLS request that a server answers in plain HTTP.
const closed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const plain = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"]);

/**
 * Returns why the service at `url` could not be reached or did not answer, and what the user can do. `err`: the error of fetch. The cause
 * of `err` contains the error code.
 */
export function unreachableHint(err: unknown, url: string): string {
  const code = faultCode(err);
  const certificate = certificateFault(code);
  if (certificate === "untrusted") {
    return "A service answers there, but its certificate is not from a known authority. For a private authority, set NODE_EXTRA_CA_CERTS to the PEM file of its certificate. A self-signed certificate is its own authority.";
  }
  if (certificate === "other_name") {
    return "A service answers there, but its certificate has another name: give the address, with --url or SVC_URL, with a name of the certificate.";
  }
  if (certificate === "not_in_time") {
    return "A service answers there, but its certificate has expired or is not valid yet: renew it (SVC_TLS_CERT), or set the clock of this machine.";
  }
  if (plain.has(code)) {
    return "The server there does not use TLS: write http:// in --url or SVC_URL, or set SVC_TLS_CERT for the service.";
  }
  if (closed.has(code)) return closedHint(url);
  return startHint;
}

function closedHint(url: string): string {
  const told = "The connection was closed without an answer.";
  return /^http:/i.test(url)
    ? `${told} A service with TLS (SVC_TLS_CERT) does that to plain HTTP: then write https:// in --url or SVC_URL.`
    : `${told} The log of the service may say why.`;
}

/** Returns the error code of a failed fetch (for example `ECONNREFUSED`). Returns an empty text if there is no code. */
export function faultCode(err: unknown): string {
  const cause = err instanceof Error ? err.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
