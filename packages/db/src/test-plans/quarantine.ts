import {
  listQuarantineSeals,
  markQuarantinedPostReleased,
  noteQuarantinedPost,
  putQuarantinedPosts,
  sealQuarantinedPost,
} from "../quarantine/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const id = seededId("qrn", 7);
const byId = "quarantined_posts_pkey(id)";
const body = Buffer.from("sealed");

/** Posts that nobody could take. */
export const quarantinePlans: readonly Plan[] = [
  {
    name: "keep posts that nobody could take",
    run: (db) =>
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
          ...{ envelope: body, body, bodyBytes: 1, receivedAt: nowMs, releasedAt: null },
        },
      ]),
    reads: {},
  },
  {
    name: "the first posts whose headers may not be sealed",
    run: (db) => listQuarantineSeals(db, { after: undefined, limit: 200 }),
    reads: { quarantined_posts: "quarantined_posts_pkey()" },
    isOrdered: true,
  },
  {
    name: "the next posts whose headers may not be sealed",
    run: (db) => listQuarantineSeals(db, { after: id, limit: 200 }),
    reads: { quarantined_posts: byId },
    isOrdered: true,
  },
  {
    name: "seal the headers of a post",
    run: (db) => sealQuarantinedPost(db, id, { envelope: body, detail: "" }),
    reads: { quarantined_posts: byId },
  },
  {
    name: "seal the headers of a post, whose detail stays",
    run: (db) => sealQuarantinedPost(db, id, { envelope: body, detail: undefined }),
    reads: { quarantined_posts: byId },
  },
  {
    name: "mark a post as released",
    run: (db) => markQuarantinedPostReleased(db, id, nowMs),
    reads: { quarantined_posts: byId },
  },
  {
    name: "put a post back",
    run: (db) => noteQuarantinedPost(db, id, { reason: "no_project", detail: "" }),
    reads: { quarantined_posts: byId },
  },
];
