import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { Fault } from "@svc/core";
import { CatalogService } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { Health } from "@svc/gen/health";
import { expect, test } from "vitest";
import {
  createFaultInterceptor,
  createOutgoingError,
  httpStatusOf,
  isFaultCode,
  toConnectError,
} from "./connect-error.ts";

const codes = Object.values(Code).filter((code) => typeof code === "number");

test.each(codes.map((code) => [codeToString(code), code] as const))(
  "the code %s is Connect's of that name",
  (name, code) => {
    if (!isFaultCode(name)) throw new Error("no fault has the code");
    expect(toConnectError(new Fault(name, "something", [{ reason: "SOMETHING" }])).code).toBe(code);
  },
);

test("other texts are not codes", () => {
  for (const text of ["ok", "", "toString", "NotFound", undefined, 5]) expect(isFaultCode(text)).toBe(false);
});

test("a code has the HTTP status of the Connect protocol", () => {
  expect([httpStatusOf("failed_precondition"), httpStatusOf("not_found"), httpStatusOf("unavailable")]).toEqual([
    400, 404, 503,
  ]);
});

const details = [
  { reason: "NAME_EMPTY", field: "name", help: "Send one." },
  { reason: "PLAN_EMPTY", field: "", help: "" },
];

/** Returns the errors that a client receives from a call and a stream that throw. */
async function readOf(thrown: Error) {
  const transport = createRouterTransport(
    ({ service }) => {
      service(CatalogService, {
        getTool: () => {
          throw thrown;
        },
      });
      service(Health, {
        // biome-ignore lint/correctness/useYield: what it would send first is a fault
        watch: async function* () {
          throw thrown;
        },
      });
    },
    {
      router: {
        interceptors: [
          createFaultInterceptor(
            createOutgoingError((error) => {
              const message = error instanceof Error ? error.message : "";
              return new Fault("internal", message.toUpperCase(), [{ reason: "MAPPED" }]);
            }),
          ),
        ],
      },
    },
  );
  const call = createClient(CatalogService, transport).getTool({});
  const stream = createClient(Health, transport).watch({})[Symbol.asyncIterator]().next();
  return Promise.all(
    [call, stream].map(async (answer) => {
      const error = await answer.then(
        () => undefined,
        (cause: unknown) => cause as ReturnType<typeof toConnectError>,
      );
      const found = error?.findDetails(ErrorDetailSchema).map(({ reason, field, help }) => ({ reason, field, help }));
      return { code: error?.code, message: error?.rawMessage, details: found };
    }),
  );
}

test("faults of calls and streams arrive with code, message and all details in order", async () => {
  const read = { code: Code.InvalidArgument, message: "2 faults", details };
  expect(await readOf(new Fault("invalid_argument", "2 faults", details))).toEqual([read, read]);
});

test("Connect's own error is unchanged, and any other is mapped", async () => {
  const own = toConnectError(new Fault("aborted", "own", []));
  const passed = { code: Code.Aborted, message: "own", details: [] };
  expect(await readOf(own)).toEqual([passed, passed]);
  const mapped = { code: Code.Internal, message: "LOST", details: [{ reason: "MAPPED", field: "", help: "" }] };
  expect(await readOf(new Error("lost"))).toEqual([mapped, mapped]);
});
