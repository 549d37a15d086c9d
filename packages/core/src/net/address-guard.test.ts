import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AddressRefusedError, createAddressGuard } from "./address-guard.ts";
import { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";

const publicOnly = createAddressGuard({ allowedRanges: [] });

// Names and their addresses. They replace DNS, and no test in this file opens a connection.
const names: Record<string, string[]> = {
  "public.example": ["93.184.215.14"],
  "dual.example": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "private.example": ["10.1.2.3"],
  "private6.example": ["fd12:3456:789a::1"],
  "half.example": ["93.184.215.14", "192.168.0.10"],
  "half6.example": ["2606:4700::1111", "::1"],
  "mapped.example": ["::ffff:10.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "linklocal.example": ["fe80::1%eth0"],
  "dotted.example.": ["172.16.0.1"],
  "127.0.0.1.nip.example": ["127.0.0.1"],
  "localhost.": ["127.0.0.1", "::1"],
  localhost: ["127.0.0.1", "::1"],
};
const resolve: ResolveName = async (hostname) =>
  (names[hostname] ?? []).map((address) => ({ address, family: isIP(address) }));

type Guard = ReturnType<typeof createAddressGuard>;

/**
 * Checks an endpoint as a delivery to it does: first its URL, then every address of its host. Returns "allowed", or the address range for
 * which it is refused.
 */
async function judgeEndpoint(endpoint: string, guard: Guard = publicOnly): Promise<string> {
  const url = new URL(endpoint);
  const verdict = guard.judgeUrl(url);
  if (!verdict.allowed) return verdict.range;
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) return "allowed";
  const outcome = await lookupOutcome(guard, url.hostname);
  return outcome instanceof AddressRefusedError ? outcome.range : "allowed";
}

function lookupOutcome(guard: Guard, hostname: string, resolveName = resolve) {
  const lookup = createGuardedLookup(guard, resolveName);
  return new Promise<Error | string | LookupAddress[]>((done) => {
    lookup(hostname, { all: true }, (err, addresses) => done(err ?? addresses));
  });
}

const refusedEndpoints: [endpoint: string, range: string][] = [
  // IPv4
  ["https://0.0.0.0/", "unspecified"],
  ["https://0.1.2.3/", "unspecified"],
  ["https://10.0.0.1/hook", "private"],
  ["https://10.255.255.255/", "private"],
  ["https://172.16.0.1/", "private"],
  ["https://172.31.255.254/", "private"],
  ["https://192.168.1.1:8443/", "private"],
  ["https://127.0.0.1/", "loopback"],
  ["https://127.255.255.254/", "loopback"],
  ["https://169.254.1.1/", "linkLocal"],
  ["https://169.254.170.2/", "linkLocal"],
  ["https://100.64.0.1/", "carrierGradeNat"],
  ["https://100.127.255.254/", "carrierGradeNat"],
  ["https://198.18.0.1/", "reserved"],
  ["https://198.19.255.254/", "reserved"],
  ["https://192.0.0.8/", "reserved"],
  ["https://192.0.2.1/", "reserved"],
  ["https://198.51.100.7/", "reserved"],
  ["https://203.0.113.9/", "reserved"],
  ["https://192.88.99.1/", "reserved"],
  ["https://224.0.0.1/", "multicast"],
  ["https://239.255.255.250/", "multicast"],
  ["https://240.0.0.1/", "reserved"],
  ["https://255.255.255.255/", "broadcast"],
  // Other spellings of IPv4
  ["https://2130706433/", "loopback"],
  ["https://0177.0.0.1/", "loopback"],
  ["https://0x7f.1/", "loopback"],
  ["https://0x7f000001/", "loopback"],
  ["https://127.1/", "loopback"],
  ["https://127.0.1/", "loopback"],
  ["https://0/", "unspecified"],
  ["https://10.1/", "private"],
  ["https://0xc0.0xa8.0x01.0x01/", "private"],
  ["https://3232235777/", "private"],
  ["https://127.0.0.1./", "loopback"],
  ["https://%31%32%37.0.0.1/", "loopback"],
  ["https://①②⑦.⓪.⓪.①/", "loopback"],
  ["https://user:pass@127.0.0.1/", "loopback"],
  // IPv6
  ["https://[::]/", "unspecified"],
  ["https://[::1]/", "loopback"],
  ["https://[0:0:0:0:0:0:0:1]/", "loopback"],
  ["https://[fc00::1]/", "uniqueLocal"],
  ["https://[fd12:3456:789a::1]/", "uniqueLocal"],
  ["https://[fe80::1]/", "linkLocal"],
  ["https://[fec0::1]/", "deprecatedSiteLocal"],
  ["https://[ff02::1]/", "multicast"],
  ["https://[2001:db8::1]/", "reserved"],
  ["https://[3fff::1]/", "reserved"],
  ["https://[100::1]/", "discard"],
  ["https://[5f00::1]/", "segmentRouting"],
  ["https://[4000::1]/", "unallocated"],
  ["https://[2001:2::1]/", "benchmarking"],
  // IPv6 that wraps IPv4
  ["https://[::ffff:127.0.0.1]/", "loopback"],
  ["https://[::ffff:a00:1]/", "private"],
  ["https://[::127.0.0.1]/", "loopback"],
  ["https://[::10.0.0.1]/", "private"],
  ["https://[::ffff:0:10.0.0.1]/", "private"],
  ["https://[64:ff9b::10.0.0.1]/", "private"],
  ["https://[64:ff9b::7f00:1]/", "loopback"],
  ["https://[64:ff9b:1::8.8.8.8]/", "rfc6052"],
  ["https://[2002:a00:1::]/", "private"],
  ["https://[2002:7f00:1::1]/", "loopback"],
  ["https://[2001:0:808:808:0:0:f5ff:fffe]/", "private"], // Teredo client 10.0.0.1
  ["https://[2001:0:a00:1:0:0:f7f7:f7f7]/", "private"], // Teredo server 10.0.0.1
  // Metadata services
  ["https://169.254.169.254/latest/meta-data/", "metadata"],
  ["https://2852039166/", "metadata"],
  ["https://0xa9.254.0251.254/", "metadata"],
  ["https://[::ffff:169.254.169.254]/", "metadata"],
  ["https://[64:ff9b::a9fe:a9fe]/", "metadata"],
  ["https://[2002:a9fe:a9fe::]/", "metadata"],
  ["https://[fd00:ec2::254]/", "metadata"],
  ["https://[fd00:0ec2:0:0:0:0:0:0254]/", "metadata"],
  ["https://168.63.129.16/", "metadata"],
  ["https://0xa83f8110/", "metadata"],
  ["https://[::ffff:a83f:8110]/", "metadata"],
  ["https://100.100.100.200/", "metadata"],
  ["https://192.0.0.192/", "metadata"],
  ["https://[fd20:ce::254]/", "metadata"],
  // Host names
  ["https://localhost/", "loopback"],
  ["https://LOCALHOST./", "loopback"],
  ["https://api.localhost/", "loopback"],
  ["https://private.example/", "private"],
  ["https://private6.example/", "uniqueLocal"],
  ["https://half.example/", "private"],
  ["https://half6.example/", "loopback"],
  ["https://mapped.example/", "private"],
  ["https://metadata.example/", "metadata"],
  ["https://linklocal.example/", "linkLocal"],
  ["https://dotted.example./", "private"],
  ["https://127.0.0.1.nip.example/", "loopback"],
];

test.each(refusedEndpoints)("refuses %s (%s)", async (endpoint, range) => {
  expect(await judgeEndpoint(endpoint)).toBe(range);
});

test.each([
  "https://8.8.8.8/",
  "https://1.1.1.1./",
  "https://134744072/",
  "https://172.32.0.1/",
  "https://100.128.0.1/",
  "https://[2606:4700:4700::1111]/",
  "https://[::ffff:8.8.8.8]/",
  "https://[64:ff9b::808:808]/",
  "https://[2002:808:808::1]/",
  "https://[2001:0:808:808:0:0:f7f7:f7f7]/",
  "https://public.example/",
  "https://dual.example/",
  "https://localhost.example/",
  "https://notlocalhost/",
])("allows %s", async (endpoint) => {
  expect(await judgeEndpoint(endpoint)).toBe("allowed");
});

test.each([
  ["http://127.0.0.1:9000/", ["127.0.0.0/8"], "allowed"],
  ["http://127.1/", ["127.0.0.0/8"], "allowed"],
  ["http://[::ffff:127.0.0.1]/", ["127.0.0.0/8"], "allowed"],
  ["http://localhost/", ["127.0.0.0/8", "::1/128"], "allowed"],
  ["http://localhost/", ["127.0.0.0/8"], "loopback"], // the name also has the address ::1
  ["http://[::1]/", ["127.0.0.0/8"], "loopback"],
  ["https://10.2.3.4/", ["10.0.0.0/16"], "private"],
  ["https://10.0.3.4/", ["10.0.0.0/16"], "allowed"],
  ["https://half.example/", ["192.168.0.0/24"], "allowed"],
  ["https://linklocal.example/", ["fe80::/10"], "allowed"],
  ["https://169.254.169.254/", ["169.254.0.0/16", "169.254.169.254/32", "0.0.0.0/0"], "metadata"],
  ["https://[::ffff:169.254.169.254]/", ["::/0", "0.0.0.0/0"], "metadata"],
  ["https://[2002:a9fe:a9fe::]/", ["2002::/16"], "metadata"],
  ["https://[fd00:ec2::254]/", ["fd00::/8"], "metadata"],
  ["https://168.63.129.16/", ["168.63.129.16/32", "0.0.0.0/0"], "metadata"],
  ["https://[64:ff9b::a83f:8110]/", ["::/0"], "metadata"],
  ["https://[64:ff9b:1::8.8.8.8]/", ["::/0"], "rfc6052"],
  ["https://[64:ff9b:1:ffff:ffff:ffff:ffff:ffff]/", ["64:ff9b:1::/48", "::/0"], "rfc6052"],
  ["https://metadata.example/", ["0.0.0.0/0", "::/0"], "metadata"],
])("%s with ranges %j allowed: %s", async (endpoint, allowedRanges, expected) => {
  expect(await judgeEndpoint(endpoint, createAddressGuard({ allowedRanges }))).toBe(expected);
});

test.each(["", "10.0.0", "0x7f000001", "010.0.0.1", "::1::", "[::1]", "example.com", "1.2.3.4 "])(
  "text that is not an address is refused: %j",
  (text) => {
    expect(publicOnly.judge(text)).toEqual({ allowed: false, range: "not an address" });
  },
);

test("a zone id neither hides a private address nor passes on a public one", () => {
  expect(publicOnly.judge("fe80::1%eth0")).toEqual({ allowed: false, range: "linkLocal" });
  expect(publicOnly.judge("::ffff:10.0.0.1%1")).toEqual({ allowed: false, range: "private" });
  expect(publicOnly.judge("fd00:ec2::254%eth0")).toEqual({ allowed: false, range: "metadata" });
  expect(publicOnly.judge("2606:4700::1111%eth0")).toEqual({ allowed: false, range: "zoned" });
});

test("however an IPv4 address is wrapped, the verdict is that of the address", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (bits) => {
      const high = (bits >>> 16).toString(16);
      const low = (bits & 0xffff).toString(16);
      const dotted = [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join(".");
      const plain = publicOnly.judge(dotted);
      const client = [bits >>> 16, bits & 0xffff].map((part) => (part ^ 0xffff).toString(16)).join(":");
      for (const wrapped of [
        `::ffff:${high}:${low}`,
        `::ffff:0:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::1`,
        `2001:0:808:808::${client}`,
      ]) {
        expect(publicOnly.judge(wrapped), wrapped).toEqual(plain);
      }
    }),
  );
});

test.each(["10.0.0.0", "10.0.0.0/33", "fd00::/129", "010.0.0.0/8", "10/8", "all", ""])(
  "an address range that cannot be read is refused by name: %j",
  (range) => {
    expect(() => createAddressGuard({ allowedRanges: ["10.0.0.0/8", range] })).toThrow(
      `address range ${JSON.stringify(range)} is not understood`,
    );
  },
);

test("a refusal says which address, which range, and which name led there", async () => {
  const refusal = await lookupOutcome(publicOnly, "half.example");
  expect(refusal).toBeInstanceOf(AddressRefusedError);
  expect(refusal).toMatchObject({
    code: "address_refused",
    address: "192.168.0.10",
    range: "private",
    message: '"half.example" leads to 192.168.0.10, which is not a public address (private)',
  });
});

test("a name without addresses, and a resolver's own error, reach the dialler as errors", async () => {
  expect(await lookupOutcome(publicOnly, "unknown.example")).toMatchObject({ code: "ENOTFOUND" });
  const failure = Object.assign(new Error("servfail"), { code: "EAI_AGAIN" });
  expect(await lookupOutcome(publicOnly, "any.example", () => Promise.reject(failure))).toBe(failure);
});

test("a dialler that asks for one address gets the first judged one", async () => {
  const lookup = createGuardedLookup(publicOnly, resolve);
  const answer = await new Promise((done) => {
    lookup("dual.example", { all: false }, (_err, address, family) => done([address, family]));
  });
  expect(answer).toEqual(["93.184.215.14", 4]);
});
