CREATE TABLE "erasures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"entity_id" text NOT NULL,
	"state" text NOT NULL,
	"pass" integer DEFAULT 1 NOT NULL,
	"at_table" text DEFAULT '' NOT NULL,
	"at_key" text DEFAULT '' NOT NULL,
	"counts" jsonb NOT NULL,
	"deleted_in_pass" bigint DEFAULT 0 NOT NULL,
	"jobs_left" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE UNIQUE INDEX "erasures_unfinished" ON "erasures" USING btree ("project_id","entity_id") WHERE finished_at is null;