import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "@svc/testing/certificate";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../logger.ts";
import { openTls } from "./tls.ts";

function files(cert: string, key: string) {
  const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(paths.certFile, cert);
  writeFileSync(paths.keyFile, key);
  return paths;
}

const [one, other] = [createCertificate(), createCertificate()];
const silent = { write: () => {} };

test.each([
  ["a certificate that is none", "nonsense", one.key, /SVC_TLS_CERT: .*cert\.pem contains no PEM certificate/],
  ["a key that is none", one.cert, "nonsense", /SVC_TLS_KEY: .*key\.pem contains no PEM private key/],
  ["the key of another certificate", one.cert, other.key, /SVC_TLS_KEY: .*is not the key of the first certificate/],
])("%s is refused, and nothing of the key is told", async (_name, cert, key, expected) => {
  const opening = openTls(files(cert, key), await createLogger({ level: "info", destination: silent }));
  await expect(opening).rejects.toThrow(expected);
});

test("files that are missing are refused by name", async () => {
  const opening = openTls(
    { certFile: "/nowhere/c", keyFile: "/nowhere/k" },
    await createLogger({ level: "info", destination: silent }),
  );
  await expect(opening).rejects.toThrow(
    /SVC_TLS_CERT: \/nowhere\/c cannot be read \(ENOENT\).*\n.*SVC_TLS_KEY: \/nowhere\/k cannot be read \(ENOENT\)/,
  );
});

test("faults of replaced files are logged once, and so is their later reload, without a request", async () => {
  const logs: string[] = [];
  const logger = await createLogger({ level: "info", destination: { write: (line) => void logs.push(line) } });
  const paths = files(one.cert, one.key);
  const tls = await openTls(paths, logger, 5);
  onTestFinished(() => tls.stop());
  writeFileSync(paths.certFile, other.cert);
  await expect.poll(() => logs).toEqual([expect.stringContaining("the earlier certificate stays in use")]);
  await tls.reload();
  await tls.reload();
  expect(logs).toHaveLength(1);
  writeFileSync(paths.keyFile, other.key);
  await expect.poll(() => logs).toEqual([expect.anything(), expect.stringContaining("are read again")]);
});
