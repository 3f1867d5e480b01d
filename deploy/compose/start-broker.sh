#!/bin/sh
# Installs the shared Erlang cookie and the login from make_secrets.py where RabbitMQ expects them.
set -eu
mkdir -p /var/lib/rabbitmq /run/broker
cp /etc/studio/rabbitmq.conf /run/broker/10-studio.conf
# The first node has no peers, the others have the first. A node that waits for absent peers starts minutes late.
[ "$(hostname)" = rabbitmq-1 ] ||
    echo "cluster_formation.classic_config.nodes.2 = rabbit@$(hostname)" >> /run/broker/10-studio.conf
cp /run/broker-config/20-login.conf /run/broker/20-login.conf
cp /run/broker-config/erlang.cookie /var/lib/rabbitmq/.erlang.cookie
chown -R rabbitmq:rabbitmq /var/lib/rabbitmq /run/broker
chmod 400 /var/lib/rabbitmq/.erlang.cookie /run/broker/20-login.conf
exec docker-entrypoint.sh rabbitmq-server
