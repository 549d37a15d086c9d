CREATE TABLE "data_keys" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "data_keys_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"project_id" uuid,
	"use" text NOT NULL,
	"rotation" integer NOT NULL,
	"wrapped" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "old_subkeys" (
	"key_id" text NOT NULL,
	"purpose" text NOT NULL,
	"secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "old_subkeys_key" PRIMARY KEY("key_id","purpose")
);
--> statement-breakpoint
CREATE TABLE "vault_nodes" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"key_ids" text[] NOT NULL,
	"rotation" integer NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "vault_rotations" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "vault_rotations_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"state" text NOT NULL,
	"to_key_id" text NOT NULL,
	"from_key_ids" text[] NOT NULL,
	"last_old_number" integer NOT NULL,
	"pass" integer DEFAULT 1 NOT NULL,
	"at_table" text DEFAULT '' NOT NULL,
	"at_key" text DEFAULT '' NOT NULL,
	"resealed" bigint DEFAULT 0 NOT NULL,
	"resealed_in_pass" bigint DEFAULT 0 NOT NULL,
	"seen" bigint DEFAULT 0 NOT NULL,
	"total" bigint DEFAULT 0 NOT NULL,
	"problem" text DEFAULT '' NOT NULL,
	"not_before" timestamp (3) with time zone,
	"lease_owner" uuid,
	"lease_until" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "data_keys" ADD CONSTRAINT "data_keys_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_project" ON "data_keys" USING btree ("project_id","use","rotation") WHERE project_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_deployment" ON "data_keys" USING btree ("use","rotation") WHERE project_id is null;