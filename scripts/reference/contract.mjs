// Reads the contract from generated code (gen/), and its comments from proto/, because generated code does not contain them.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { root } from "../run.mjs";

/** Returns every service, message and enum of svc.v1, and the comment of each full name, such as `svc.v1.TriggersService.GetEvent`. */
export async function readContract() {
  const names = readdirSync(join(root, "proto/svc/v1")).map((file) => file.replace(".proto", ""));
  const modules = await Promise.all(names.map((name) => import(`@svc/gen/${name}`)));
  const files = modules.flatMap((module) => Object.values(module)).filter(({ kind }) => kind === "file");
  return {
    services: files.flatMap((file) => file.services),
    messages: files.flatMap((file) => file.messages.flatMap(withNested)),
    enums: files.flatMap((file) => [
      ...file.enums,
      ...file.messages.flatMap(withNested).flatMap((one) => one.nestedEnums),
    ]),
    comments: readComments(),
  };
}

function withNested(message) {
  return message.mapEntry
    ? []
    : [message, ...message.nestedMessages.filter((one) => !one.mapEntry).flatMap(withNested)];
}

function readComments() {
  const environment = { ...process.env, BUF_CACHE_DIR: join(root, ".cache", "buf") };
  const buf = join(root, "node_modules", ".bin", "buf");
  const bytes = execFileSync(buf, ["build", "-o", "-", "--as-file-descriptor-set"], { cwd: root, env: environment });
  const comments = new Map();
  for (const file of fromBinary(FileDescriptorSetSchema, bytes).file) {
    if (file.package !== "svc.v1") continue;
    const nameOf = namesOf(file);
    for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      const name = nameOf.get(path.join("."));
      if (name !== undefined && leadingComments !== "") comments.set(name, textOf(leadingComments));
    }
  }
  return comments;
}

function textOf(comment) {
  return comment
    .split("\n")
    .map((line) => line.replace(/^ /, ""))
    .join("\n")
    .trim();
}

/** Returns the full names in a file, by their path in the file's descriptor. */
function namesOf(file) {
  const names = new Map();
  const add = (items, before, path, inside) => {
    for (const [index, item] of items.entries()) {
      const name = `${before}.${item.name}`;
      names.set([...path, index].join("."), name);
      inside?.(item, name, [...path, index]);
    }
  };
  const addMessage = (message, name, path) => {
    add(message.field, name, [...path, 2]);
    add(message.oneofDecl, name, [...path, 8]);
    add(message.nestedType, name, [...path, 3], addMessage);
    add(message.enumType, name, [...path, 4], addEnum);
  };
  const addEnum = (one, name, path) => add(one.value, name, [...path, 2]);
  add(file.messageType, file.package, [4], addMessage);
  add(file.enumType, file.package, [5], addEnum);
  add(file.service, file.package, [6], (service, name, path) => add(service.method, name, [...path, 2]));
  return names;
}
