CREATE TABLE "delivery_epoch" (
	"id" smallint PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL
);
--> statement-breakpoint
INSERT INTO "delivery_epoch" ("id", "epoch") VALUES (1, 1);--> statement-breakpoint
ALTER TABLE "delivery_tasks" ADD COLUMN "epoch" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
-- What waits for a retry leaves the lanes; whatever is due or leased stays in them.
UPDATE "delivery_tasks" SET "epoch" = 0 WHERE "due_at" > now() AND "lease_owner" IS NULL;--> statement-breakpoint
CREATE INDEX "delivery_tasks_waiting" ON "delivery_tasks" USING btree ("due_at") WHERE epoch = 0;--> statement-breakpoint
ALTER TABLE "delivery_tasks" DROP CONSTRAINT "delivery_tasks_lane";
--> statement-breakpoint
ALTER TABLE "delivery_tasks" ADD CONSTRAINT "delivery_tasks_lane" PRIMARY KEY("epoch","subscription_id","due_at","delivery_id");