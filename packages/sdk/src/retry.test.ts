import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { TriggersService } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { createReadRetry } from "./retry.ts";

const nowMs = Date.parse("2026-01-02T03:04:05Z");

/**
 * Returns the waits between the attempts of a read that always fails as unavailable. `retryAfter`: the Retry-After header of the answers.
 */
async function waitsOf(retryAfter: string | undefined, random = 0.5): Promise<number[]> {
  const waits: number[] = [];
  const clock = {
    now: () => nowMs,
    random: () => random,
    wait: async (ms: number) => {
      waits.push(ms);
    },
  };
  const headers = retryAfter === undefined ? undefined : { "Retry-After": retryAfter };
  const transport = createRouterTransport(
    (router) =>
      router.service(TriggersService, {
        listEvents: () => {
          throw new ConnectError("not now", Code.Unavailable, headers);
        },
      }),
    { transport: { interceptors: [createReadRetry(clock)] } },
  );
  await expect(createClient(TriggersService, transport).listEvents({})).rejects.toMatchObject({
    code: Code.Unavailable,
  });
  return waits;
}

test.each([
  [0, [100, 200]],
  [0.5, [150, 300]],
  [1, [200, 400]],
])("without Retry-After the waits double, half of each by chance (%s)", async (random, waits) => {
  expect(await waitsOf(undefined, random)).toEqual(waits);
});

test.each([
  ["seconds", "2", [2000, 2000]],
  ["a date", "Fri, 02 Jan 2026 03:04:10 GMT", [5000, 5000]],
  ["a date that has passed", "Fri, 02 Jan 2026 03:04:00 GMT", [0, 0]],
  ["nothing readable", "soon", [150, 300]],
  ["longer than a caller would wait", "21", []],
])("Retry-After of %s is honoured", async (_, retryAfter, waits) => {
  expect(await waitsOf(retryAfter)).toEqual(waits);
});
