import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A certificate and its private key, both as PEM texts. */
export type TestCertificate = { readonly cert: string; readonly key: string };

/** Creates a self-signed certificate for localhost and 127.0.0.1, valid until 2049. Every certificate has its own key. */
export function createCertificate(commonName = "svc.test"): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = sequence(tagged(0x31, sequence(oid.commonName, tagged(0x0c, Buffer.from(commonName)))));
  const algorithm = sequence(oid.ecdsaWithSha256);
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // The certificate has version 3, which is written as 2.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time("200101000000Z"), time("490101000000Z")),
    name,
    publicKey.export({ format: "der", type: "spki" }),
    tagged(0xa3, sequence(basicConstraints, alternativeNames)),
  );
  const signature = sign("sha256", content, privateKey);
  const certificate = sequence(content, algorithm, tagged(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
}

/** Returns one element in DER (the binary form of certificates, ITU-T X.690). `tag`: the kind of the element. `parts`: its content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function time(text: string): Buffer {
  return tagged(0x17, Buffer.from(text));
}

const oid = {
  commonName: Buffer.from("0603550403", "hex"),
  ecdsaWithSha256: Buffer.from("06082a8648ce3d040302", "hex"),
  basicConstraints: Buffer.from("0603551d13", "hex"),
  alternativeNames: Buffer.from("0603551d11", "hex"),
};

// Marks the certificate as an authority that may sign certificates. The certificate has signed itself, so a client that trusts it then
// accepts it.
const basicConstraints = sequence(
  oid.basicConstraints,
  tagged(0x01, Buffer.from([0xff])),
  tagged(0x04, sequence(tagged(0x01, Buffer.from([0xff])))),
);
const alternativeNames = sequence(
  oid.alternativeNames,
  tagged(0x04, sequence(tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1])))),
);
