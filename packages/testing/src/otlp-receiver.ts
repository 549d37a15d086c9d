import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A span as an OpenTelemetry receiver gets it. Ids are hexadecimal; `parentId` is empty for the first span of a trace. */
export type ReceivedSpan = {
  traceId: string;
  id: string;
  parentId: string;
  name: string;
  attributes: Record<string, string>;
  links: { traceId: string; id: string }[];
  /** 0: not set, 2: error. */
  status: number;
  /** Message of the status. Empty if it has none. */
  message: string;
};

/** An OpenTelemetry receiver on loopback, which decodes the spans that it gets as protobuf over HTTP. */
export type OtlpReceiver = AsyncDisposable & {
  /** Base address, for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** Attributes of the senders, such as `service.name`. */
  readonly resources: Record<string, string>[];
  /** Headers of the requests. */
  readonly headers: Record<string, string | string[] | undefined>[];
};

/** Starts a receiver on a free port. It answers each request with `status`. */
export async function startOtlpReceiver(status = 200): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const resources: Record<string, string>[] = [];
  const headers: OtlpReceiver["headers"] = [];
  const server = createServer(async (req, res) => {
    const sent = await buffer(req);
    headers.push({ ...req.headers, path: req.url });
    const body = req.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    for (const resourceSpans of fieldsOf(body).bytes(1)) {
      const { bytes } = fieldsOf(resourceSpans);
      resources.push(...bytes(1).map((resource) => attributesOf(fieldsOf(resource).bytes(1))));
      for (const scope of bytes(2)) spans.push(...fieldsOf(scope).bytes(2).map(readSpan));
    }
    res.writeHead(status, { "content-type": "application/x-protobuf" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return {
    ...{ url: `http://127.0.0.1:${address.port}`, spans, resources, headers },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function readSpan(span: Uint8Array): ReceivedSpan {
  const { bytes, text } = fieldsOf(span);
  const hex = (number: number) => Buffer.from(bytes(number)[0] ?? []).toString("hex");
  const links = bytes(13).map((link) => {
    const [traceId, id] = [1, 2].map((number) => Buffer.from(fieldsOf(link).bytes(number)[0] ?? []).toString("hex"));
    return { traceId: traceId ?? "", id: id ?? "" };
  });
  const [status] = bytes(15).map(fieldsOf);
  return {
    ...{ traceId: hex(1), id: hex(2), parentId: hex(4), name: text(5), links },
    attributes: attributesOf(bytes(9)),
    status: status?.numbers(3)[0] ?? 0,
    message: status?.text(2) ?? "",
  };
}

function attributesOf(pairs: readonly Uint8Array[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const { text, bytes } = fieldsOf(pair);
      const value = fieldsOf(bytes(2)[0] ?? new Uint8Array());
      return [text(1), value.text(1) || String(value.numbers(3)[0] ?? value.numbers(2)[0] ?? "")];
    }),
  );
}

/** Reads a protobuf message without its schema: the bytes, texts and whole numbers of a field. */
function fieldsOf(message: Uint8Array) {
  const bytes = new Map<number, Uint8Array[]>();
  const numbers = new Map<number, number[]>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) bytes.set(field, [...(bytes.get(field) ?? []), reader.bytes()]);
    else if (type === 0) numbers.set(field, [...(numbers.get(field) ?? []), Number(reader.int64())]);
    else reader.skip(type);
  }
  return {
    bytes: (field: number) => bytes.get(field) ?? [],
    numbers: (field: number) => numbers.get(field) ?? [],
    text: (field: number) => Buffer.from(bytes.get(field)?.[0] ?? []).toString("utf8"),
  };
}
