CREATE TABLE "subscription_paces" (
	"subscription_id" uuid PRIMARY KEY NOT NULL,
	"at" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
-- Claims update these rows many times a second. With half of each page free, an update stays on its page and changes no index.
ALTER TABLE "subscription_paces" SET (fillfactor = 50);
