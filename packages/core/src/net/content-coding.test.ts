import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createBodyDecoder } from "./content-coding.ts";

const bytesMax = 100_000;
const { decode } = createBodyDecoder(bytesMax);

const encoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  "x-gzip": (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
  identity: (body) => body,
};
const encodings = Object.keys(encoders);
const encode = (body: Buffer, names: readonly string[]) =>
  names.reduce((encoded, name) => (encoders[name] ?? ((same) => same))(encoded), body);

const bodies = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));

test("property: what was encoded comes back, one coding on top of another too, however they are spelled", async () => {
  const names = fc.array(fc.constantFrom(...encodings), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(bodies, names, async (body, applied) => {
      const decoded = await decode(encode(body, applied), applied.map((name) => ` ${name.toUpperCase()}`).join(","));
      expect(decoded).toMatchObject({ outcome: "decoded" });
      if (decoded.outcome === "decoded") {
        expect(decoded.body.equals(body)).toBe(true);
        decoded.done();
      }
    }),
  );
});

test("property: no bytes make it throw, or read more than it may", async () => {
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(...encodings), fc.nat(), async (body, name, cut) => {
      const whole = encode(body, [name]);
      for (const broken of [body, whole.subarray(0, cut % (whole.byteLength + 1)), Buffer.concat([body, whole])]) {
        const decoded = await decode(broken, name);
        expect(["decoded", "broken", "too_large"]).toContain(decoded.outcome);
        if (decoded.outcome === "decoded") {
          expect(decoded.body.byteLength).toBeLessThanOrEqual(bytesMax);
          decoded.done();
        }
      }
    }),
  );
});

test.each(["gzip", "deflate", "br"])("a %s bomb ends at the bound, and so does one inside of another", async (name) => {
  const bomb = encode(Buffer.alloc(50 * bytesMax), [name]);
  expect(bomb.byteLength).toBeLessThan(bytesMax);
  expect(await decode(bomb, name)).toEqual({ outcome: "too_large" });
  expect(await decode(encode(bomb, ["gzip"]), `${name}, gzip`)).toEqual({ outcome: "too_large" });
  const largest = await decode(encode(Buffer.alloc(bytesMax), [name]), name);
  expect(largest).toMatchObject({ outcome: "decoded" });
});

test("deflate is read with and without its wrapper", async () => {
  const body = Buffer.from('{"a":1}');
  for (const encoded of [deflateSync(body), deflateRawSync(body)]) {
    expect(await decode(encoded, "deflate")).toMatchObject({ outcome: "decoded", body });
  }
});

test("unsupported and too many codings are reported by name; no coding is accepted", async () => {
  const body = Buffer.from("x");
  expect(await decode(body, "gzip, zstd")).toEqual({ outcome: "unsupported", encoding: "zstd" });
  expect(await decode(body, "gzip,gzip,gzip,gzip")).toMatchObject({ outcome: "unsupported" });
  for (const none of [undefined, "", "identity", " , identity"]) {
    expect(await decode(body, none)).toMatchObject({ outcome: "decoded", body });
  }
  expect(await decode(Buffer.alloc(0), "gzip")).toMatchObject({ outcome: "decoded" });
});

test("bodies under way are bounded together: others wait in their turn, a few, and what is done or failed makes room", async () => {
  const own = createBodyDecoder(1_000, { bytes: 4_000, waitingMax: 2 });
  const body = gzipSync(Buffer.alloc(1_000));
  const held = await Promise.all(Array.from({ length: 4 }, () => own.decode(body, "gzip")));
  expect(held.every(({ outcome }) => outcome === "decoded")).toBe(true);
  const ended: string[] = [];
  const waiting = [Buffer.from("no gzip"), body].map((one, index) =>
    own.decode(one, "gzip").then((decoded) => {
      ended.push(`${index} ${decoded.outcome}`);
      return decoded;
    }),
  );
  expect(await own.decode(body, "gzip")).toEqual({ outcome: "no_room" });
  // A body without an encoding needs no memory for decoding, so it does not wait.
  expect(await own.decode(body, undefined)).toMatchObject({ outcome: "decoded" });
  expect(ended).toEqual([]);
  const [first] = held;
  if (first?.outcome === "decoded") first.done();
  await Promise.all(waiting);
  expect(ended).toEqual(["0 broken", "1 decoded"]);
  // A body that is smaller than the maximum returns the memory that it does not use at once.
  for (const one of [...held.slice(1), await waiting[1]]) if (one?.outcome === "decoded") one.done();
  const small = await Promise.all(Array.from({ length: 6 }, () => own.decode(gzipSync(Buffer.from("x")), "gzip")));
  expect(small.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => "decoded"));
});
