/** Reason why a client refuses the certificate of a TLS server. */
export type CertificateFault = "untrusted" | "other_name" | "not_in_time";

const faults: ReadonlyMap<string, CertificateFault> = new Map([
  ["CERT_UNTRUSTED", "untrusted"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "untrusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT", "untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "untrusted"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "untrusted"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "other_name"],
  ["CERT_HAS_EXPIRED", "not_in_time"],
  ["CERT_NOT_YET_VALID", "not_in_time"],
]);

/**
 * Returns why Node refused the certificate of a TLS server: no known authority signed it, it has another host name, or it has expired or is
 * not valid yet. `code`: the code of Node's error. Returns undefined for the code of any other error.
 */
export function certificateFault(code: string | undefined): CertificateFault | undefined {
  return faults.get(code ?? "");
}
