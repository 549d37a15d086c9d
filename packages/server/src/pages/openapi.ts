import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { openapiFile } from "@svc/gen/openapi";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import type { Logger } from "../logger.ts";
import type { PageHandler } from "./pages.ts";
import { answerFile, createFile, type StaticFile } from "./static-files.ts";

/**
 * Creates the handler of `/openapi.json`, the OpenAPI 3.1 document of svc's own calls. It needs no key, and pages of any origin may read
 * it, because it reveals nothing about the deployment. The file is read at the first request.
 */
export function createOpenapi({ logger, createRequestId }: OpenapiOptions): ReadonlyMap<string, PageHandler> {
  let loading: Promise<StaticFile | undefined> | undefined;
  const serve: PageHandler = (req, res) => {
    const { method = "" } = req;
    if (method !== "GET" && method !== "HEAD")
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
    loading ??= readDocument();
    loading.then(
      (file) => {
        res.setHeader("access-control-allow-origin", "*");
        if (file !== undefined) answerFile(file, req, res);
      },
      (error) => {
        loading = undefined;
        const requestId = createRequestId();
        logger.error({ err: error, requestId }, "the OpenAPI document could not be read");
        answerError(res, serverFaults.INTERNAL(requestId), undefined, { "x-request-id": requestId });
      },
    );
  };
  return new Map([["/openapi.json", serve]]);
}

type OpenapiOptions = { readonly logger: Logger; createRequestId(): string };

async function readDocument(): Promise<StaticFile | undefined> {
  const body = await readFile(openapiFile);
  return createFile("openapi.json", { body, gzip: await promisify(gzip)(body), br: undefined });
}
