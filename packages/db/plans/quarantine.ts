import {
  listQuarantineSeals,
  markQuarantinedPostReleased,
  noteQuarantinedPost,
  putQuarantinedPosts,
  sealQuarantinedPost,
} from "../src/quarantine/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const id = seededId("qrn", 7);
const body = Buffer.from("sealed");

// Recorded query plans of statements on incoming webhook posts that no project received.
plan("keep posts that nobody could take", (db) =>
  putQuarantinedPosts(db, [
    {
      ...{
        id: seededId("qrn", 500_000),
        toolkitSlug: "t1",
        reason: "no_trigger",
        detail: "",
        headers: {},
        query: {},
      },
      ...{ envelope: body, body, bodyBytes: 1, receivedAt: nowMs, releasedAt: null, projectId: null },
    },
  ]),
);
plan("the first posts whose headers may not be sealed", (db) =>
  listQuarantineSeals(db, { after: undefined, limit: 200 }),
);
plan("the next posts whose headers may not be sealed", (db) => listQuarantineSeals(db, { after: id, limit: 200 }));
plan("seal the headers of a post", (db) => sealQuarantinedPost(db, id, { envelope: body, detail: "" }));
plan("seal the headers of a post, whose detail stays", (db) =>
  sealQuarantinedPost(db, id, { envelope: body, detail: undefined }),
);
plan("mark a post as released", (db) => markQuarantinedPostReleased(db, id, nowMs));
plan("put a post back", (db) => noteQuarantinedPost(db, id, { reason: "no_project", detail: "" }));
